package pageproxy

import (
	"context"
	"net"
	"sync"
)

// maxConnections is the maximum number of open connections of a proxy: Chromium opens 32 to a
// proxy, and one more for each WebSocket, up to 255.
const maxConnections = 288

// connection is a connection of a client. It belongs to the visit during which it was opened, if
// any.
type connection struct {
	*net.TCPConn
	visit *visit
	of    *connections
}

// Close closes the connection and removes it from the open ones.
func (c *connection) Close() error {
	c.of.forget(c)
	return c.TCPConn.Close()
}

// connections are the open connections.
type connections struct {
	mu   sync.Mutex
	open map[*connection]struct{}
}

// add adds a connection, unless there are too many.
func (s *connections) add(c *connection) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= maxConnections {
		return false
	}
	s.open[c] = struct{}{}
	return true
}

func (s *connections) forget(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

// closeOf closes the connections of a visit, or those without a visit if v is nil.
func (s *connections) closeOf(v *visit) {
	for _, c := range s.of(v) {
		_ = c.Close()
	}
}

func (s *connections) of(v *visit) (of []*connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		if c.visit == v {
			of = append(of, c)
		}
	}
	return of
}

// listener provides the server with the connections of clients, each with its visit.
type listener struct {
	*net.TCPListener
	proxy *Proxy
}

// Accept closes surplus connections at once. Letting them wait could block a client whose requests
// the others wait for.
func (l listener) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptTCP()
		if err != nil {
			return nil, err
		}
		if kept := l.proxy.keep(c); kept != nil {
			return kept, nil
		}
		_ = c.Close()
	}
}

type connectionKey struct{}

// withConnection makes the connection of a request available to its handler.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}
