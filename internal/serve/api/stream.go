package api

import (
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// stream is an answer without an end that is known: each part is sent at once, and must be taken in time.
type stream struct {
	w io.Writer
	c *http.ResponseController
}

func newStream(ctx huma.Context) *stream {
	_, w := humago.Unwrap(ctx)
	return &stream{w: ctx.BodyWriter(), c: http.NewResponseController(w)}
}

// send reports whether the client is still there.
func (s *stream) send(part []byte) bool {
	_ = s.c.SetWriteDeadline(time.Now().Add(takeTime)) // a recorder of a test has none
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
