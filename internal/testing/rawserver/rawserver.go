// Package rawserver is a server for tests that answers with bytes, well-formed or not.
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

// Server is a TCP server that answers each request it reads with what reply
// returns, and closes the connection when that is not ok.
type Server struct {
	URL string

	mu    sync.Mutex
	lines []string    // request lines
	heads []string    // whole, with the empty line at their end
	at    []time.Time // when they came
}

// New starts a server; reply is told which request it answers, from 1.
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

// Lines returns the request lines that came.
func (s *Server) Lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.lines)
}

// Heads returns the requests up to their bodies, as they came, to the byte.
func (s *Server) Heads() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heads)
}

// Times returns when the requests came.
func (s *Server) Times() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.at)
}
