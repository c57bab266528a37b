package mcp_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"seine/internal/serve/caller"
	"seine/internal/serve/mcp"
)

// endingReader signals when its end was read.
type endingReader struct {
	io.Reader
	ended chan struct{}
}

func (r *endingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && r.ended != nil {
		close(r.ended)
		r.ended = nil
	}
	return n, err
}

type buffer struct{ bytes.Buffer }

func (*buffer) Close() error { return nil }

// A script may pipe its requests and close the pipe: each request is answered.
func TestRequestsAreAnsweredAfterTheEndOfTheInput(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-ended
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"status","arguments":{}}}
`)
	var out buffer
	o := mcp.Options{API: api, Log: slog.New(slog.DiscardHandler)}
	if err := mcp.ServeStream(t.Context(), o, caller.Caller{Scopes: caller.All()}, io.NopCloser(&endingReader{in, ended}), &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"id":1`) || !strings.Contains(out.String(), `"id":2`) {
		t.Errorf("answers: %s", out.String())
	}
}

// A line that is not a JSON-RPC message gets an error and does not end the server.
func TestLinesThatAreNoMessages(t *testing.T) {
	t.Parallel()
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	for line, want := range map[string]string{
		"":                            "",
		" \r":                         "",
		"hello":                       "-32700",
		`{"jsonrpc":"2.0",`:           "-32700",
		`{} {}`:                       "-32700",
		"\xff":                        "-32700",
		`{"a":1}`:                     "-32600",
		`1`:                           "-32600",
		`null`:                        "-32600",
		`[1]`:                         "-32600",
		`[]`:                          "-32600",
		`{"jsonrpc":"2.0","id":true}`: "-32600",
		`{"jsonrpc":"1.0","id":2,"method":"ping"}`:                                            "-32600",
		`[{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","id":4,"method":"ping"}]`: `"id":4`,
	} {
		in := strings.NewReader(hello + "\n" + line + "\n" + `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		var out buffer
		if err := mcp.ServeStream(t.Context(), mcp.Options{Log: slog.New(slog.DiscardHandler)}, caller.Caller{Scopes: caller.All()}, io.NopCloser(in), &out); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		got := out.String()
		if !strings.Contains(got, `"id":2`) || !strings.Contains(got, want) || want == "" && strings.Contains(got, "error") {
			t.Errorf("%q: %s", line, got)
		}
	}
}
