// Package echoserver is a site for tests that records the requests it gets.
package echoserver

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// Server answers every request with a short text, unless its handler is wrapped.
type Server struct {
	*httptest.Server
	mu   sync.Mutex
	seen []Request
}

// Request is a recorded request.
type Request struct {
	*http.Request
	Text string // its body
}

// New starts a site.
func New(t *testing.T) *Server {
	t.Helper()
	e := &Server{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		e.mu.Lock()
		e.seen = append(e.seen, Request{r, string(text)})
		e.mu.Unlock()
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, "ok")
	}))
	t.Cleanup(e.Close)
	return e
}

// Seen returns the requests so far.
func (s *Server) Seen() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// Last returns the last request.
func (s *Server) Last(t *testing.T) Request {
	t.Helper()
	seen := s.Seen()
	if len(seen) == 0 {
		t.Fatal("no request was received")
	}
	return seen[len(seen)-1]
}
