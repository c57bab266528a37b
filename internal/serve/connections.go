package serve

import (
	"context"
	"crypto/tls"
	"net"
	"sync"

	"golang.org/x/net/netutil"

	"seine/internal/serve/turns"
)

// Limits of concurrent connections.
const (
	maxConnections        = 1024
	maxUnknownConnections = 64 // unauthenticated connections of one address
)

// boundedListener limits connections, and closes those of an address beyond maxUnknownConnections,
// so that a client without a token cannot keep others out.
type boundedListener struct {
	net.Listener
	unknown *turns.Turns
}

func boundConnections(l net.Listener) net.Listener {
	return &boundedListener{netutil.LimitListener(l, maxConnections), turns.New(maxUnknownConnections, maxConnections, 0)}
}

// Accept implements net.Listener.
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if end := l.unknown.Acquire(context.Background(), clientOf(c.RemoteAddr().String())); end != nil {
			return &boundedConn{c, sync.OnceFunc(end)}, nil
		}
		_ = c.Close()
	}
}

// boundedConn is a connection that counts for its address until it is closed or known is called.
type boundedConn struct {
	net.Conn
	known func()
}

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	c.known()
	return c.Conn.Close()
}

type connKey struct{}

// withConn returns a context for the requests of a connection, for authenticated.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if encrypted, ok := c.(*tls.Conn); ok {
		c = encrypted.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// authenticated marks the connection of a request as authenticated.
func authenticated(ctx context.Context) {
	if c, ok := ctx.Value(connKey{}).(*boundedConn); ok {
		c.known()
	}
}
