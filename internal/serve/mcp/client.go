package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/google/jsonschema-go/jsonschema"

	"seine/internal/base/panics"
	"seine/internal/serve/api"
	"seine/internal/serve/caller"
	"seine/internal/serve/responsebuffer"
)

// client sends API requests on behalf of one caller.
type client struct {
	api    http.Handler
	caller caller.Caller
	from   string // address for the audit log
	log    *slog.Logger
	// readOnly is set if the API rejects writes; hidden lists tools that are not listed.
	readOnly bool
	hidden   []string
	inputs   map[string]*jsonschema.Schema // input schemas of the tools, by name
}

// get sends a GET request.
func (c *client) get(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.send(ctx, http.MethodGet, path, nil, "")
}

// post sends a body. key, if not "", is the Idempotency-Key.
func (c *client) post(ctx context.Context, path string, body any, key string) (json.RawMessage, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	return c.send(ctx, http.MethodPost, path, text, key)
}

// send returns the body of the response, or its problem as an error.
func (c *client) send(ctx context.Context, method, path string, body []byte, key string) (json.RawMessage, error) {
	r, err := http.NewRequestWithContext(caller.With(ctx, c.caller), method, api.Base+path, bytes.NewReader(body))
	if err != nil {
		return nil, &toolError{"an argument has control characters: remove them"}
	}
	if r.RemoteAddr = c.from; len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	a := responsebuffer.New()
	// net/http would end the connection of a handler that panics, not the process.
	if err := panics.Caught(func() error { c.api.ServeHTTP(a, r); return nil })(); err != nil {
		c.log.Error("a tool's request panicked", "path", r.URL.Path, "panic", err, "stack", string(panics.Stack(err)))
		a.Body.Reset()
		a.Status = http.StatusInternalServerError
	}
	if a.Status >= http.StatusMultipleChoices {
		return nil, errorOf(a)
	}
	return a.Body.Bytes(), nil
}
