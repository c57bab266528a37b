package api

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"seine/internal/serve/caller"
	"seine/internal/serve/turns"
)

// stream is a reply of unknown length. Each part is sent at once, and the client must accept it in
// time.
type stream struct {
	w io.Writer
	c *http.ResponseController
}

func newStream(ctx huma.Context) *stream {
	_, w := humago.Unwrap(ctx)
	return &stream{w: ctx.BodyWriter(), c: http.NewResponseController(w)}
}

// send reports whether the client is still connected.
func (s *stream) send(part []byte) bool {
	_ = s.c.SetWriteDeadline(time.Now().Add(takeTime)) // a recorder in a test has none
	if _, err := s.w.Write(part); err != nil {
		return false
	}
	return s.c.Flush() == nil
}

// Write implements io.Writer.
func (s *stream) Write(part []byte) (int, error) {
	if !s.send(part) {
		return 0, io.ErrClosedPipe
	}
	return len(part), nil
}

// registerStream adds an operation with a stream as its reply, of which a limited number may be
// open. prepare returns the function that sends it.
func registerStream[I any](a *API, op operation, media string, open *turns.Turns, prepare func(context.Context, *I) (send func(huma.Context), err error)) {
	spec := a.describe(&op)
	spec.Responses = map[string]*huma.Response{"200": {Description: "OK", Content: map[string]*huma.MediaType{media: {Schema: &huma.Schema{Type: "string"}}}}}
	huma.Register(a.huma, spec, func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		end := open.Acquire(ctx, caller.Of(ctx).Name)
		if end == nil {
			return nil, retryLater(http.StatusTooManyRequests, "too many downloads and streams are open: close some, or share a stream")
		}
		send, err := prepare(ctx, in)
		if err != nil {
			end()
			return nil, a.problemOf(err)
		}
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			defer end()
			ctx.SetHeader("Content-Type", media)
			send(ctx)
		}}, nil
	})
}
