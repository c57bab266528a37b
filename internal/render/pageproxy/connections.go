package pageproxy

import (
	"context"
	"net"
	"sync"
)

// maxConnections is how many a proxy has open at once: Chromium opens 32 to a
// proxy, and one more for each WebSocket, up to 255.
const maxConnections = 288

// connection is one of a client. It belongs to the visit during which it was
// opened, and to none if there was none.
type connection struct {
	*net.TCPConn
	visit *visit
	of    *connections
}

// Close closes it, and forgets it.
func (c *connection) Close() error {
	c.of.forget(c)
	return c.TCPConn.Close()
}

// connections are those that are open.
type connections struct {
	mu   sync.Mutex
	open map[*connection]struct{}
}

// add keeps a connection, unless there are too many.
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

// closeOf closes those of a visit, or of none.
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

// listener gives the server the connections of clients, each with its visit.
type listener struct {
	*net.TCPListener
	proxy *Proxy
}

// Accept closes at once what is too much: to let it wait would keep a client
// waiting that may be the one whose requests hold the others.
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

// withConnection lets a handler find the connection of a request.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}
