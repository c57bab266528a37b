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

// client sends the requests of one caller to the API.
type client struct {
	api    http.Handler
	caller caller.Caller
	from   string // as the log of writes has it
	log    *slog.Logger
	// readOnly says that the API refuses writes, hidden are tools that are not listed.
	readOnly bool
	hidden   []string
	inputs   map[string]*jsonschema.Schema // of the tools, by name
}

// get asks for what a path has.
func (c *client) get(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.send(ctx, http.MethodGet, path, nil, "")
}

// post sends a body, under a key that keeps it from being done twice, if there is one.
func (c *client) post(ctx context.Context, path string, body any, key string) (json.RawMessage, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	return c.send(ctx, http.MethodPost, path, text, key)
}

// send returns the body of an answer, or the problem that it is.
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
	// A server of HTTP would end the connection of a handler that panics, not the process.
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
