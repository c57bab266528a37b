package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"

	"seine/internal/serve/api"
	"seine/internal/serve/caller"
)

// client sends the requests of one caller to the API.
type client struct {
	api    http.Handler
	caller caller.Caller
	from   string // as the log of writes has it
	log    *slog.Logger
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
		return nil, &toolError{"an argument cannot be sent on: leave out control characters"}
	}
	if r.RemoteAddr = c.from; len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	a := &answer{status: http.StatusOK, header: make(http.Header)}
	c.handle(a, r)
	if a.status >= http.StatusMultipleChoices {
		return nil, errorOf(a)
	}
	return a.body.Bytes(), nil
}

// handle has the API answer. A server of HTTP would end the connection of a handler that panics, not the process.
func (c *client) handle(a *answer, r *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("a tool's request panicked", "path", r.URL.Path, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			a.body.Reset()
			a.status, a.wrote = http.StatusInternalServerError, true
		}
	}()
	c.api.ServeHTTP(a, r)
}

// answer is what the API answers, in memory: it bounds its answers itself.
type answer struct {
	status int
	wrote  bool
	header http.Header
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if !a.wrote && status >= http.StatusOK {
		a.status, a.wrote = status, true
	}
}

// Write implements io.Writer.
func (a *answer) Write(p []byte) (int, error) {
	a.wrote = true
	return a.body.Write(p) //nolint:wrapcheck // never fails
}
