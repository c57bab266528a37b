// Package rawserver is a server for tests that answers with arbitrary bytes, well-formed or not.
package rawserver

import (
	"bufio"
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a TCP server that answers each request with the text that reply returns. It closes the
// connection if ok is false.
type Server struct {
	URL string

	mu    sync.Mutex
	lines []string    // request lines
	heads []string    // complete, including the empty line at the end
	at    []time.Time // arrival times
}

// New starts a server; reply gets the number of the request, from 1.
func New(t *testing.T, reply func(n int) (text string, ok bool)) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Server{URL: "http://" + l.Addr().String()}
	var wg sync.WaitGroup
	ctx, cut := context.WithCancel(context.Background())
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(ctx, func() { _ = c.Close() })
			wg.Go(func() { r.serve(c, reply) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); cut(); wg.Wait() })
	return r
}

func (s *Server) serve(c net.Conn, reply func(int) (string, bool)) {
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	in := bufio.NewReader(c)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		head := line
		for text := line; text != "\r\n"; head += text {
			if text, err = in.ReadString('\n'); err != nil {
				return
			}
		}
		s.mu.Lock()
		s.lines, s.at = append(s.lines, strings.TrimSpace(line)), append(s.at, time.Now())
		s.heads = append(s.heads, head)
		n := len(s.lines)
		s.mu.Unlock()
		text, ok := reply(n)
		if _, err := c.Write([]byte(text)); err != nil || !ok {
			return
		}
	}
}

// Lines returns the request lines so far.
func (s *Server) Lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.lines)
}

// Heads returns the exact bytes of the requests up to their bodies.
func (s *Server) Heads() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heads)
}

// Times returns the arrival times of the requests.
func (s *Server) Times() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.at)
}
