package serve

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// addressed is a connection from an address.
type addressed struct {
	net.Conn
	from   net.Addr
	closed bool
}

func (c *addressed) RemoteAddr() net.Addr { return c.from }

func (c *addressed) Close() error {
	c.closed = true
	return nil
}

// listed is a listener that accepts the listed connections.
type listed struct {
	net.Listener
	conns []*addressed
}

func (l *listed) Accept() (net.Conn, error) {
	if len(l.conns) == 0 {
		return nil, errors.New("no more")
	}
	c := l.conns[0]
	l.conns = l.conns[1:]
	return c, nil
}

func connections(n int, address string) (all []*addressed) {
	for range n {
		all = append(all, &addressed{from: &net.TCPAddr{IP: net.ParseIP(address), Port: 1}})
	}
	return all
}

// No client without a token holds more connections than its share, from whichever addresses of its
// network. Connections of others, and authenticated ones, are accepted.
func TestConnectionsOfAnAddressAreBounded(t *testing.T) {
	t.Parallel()
	const more = 20
	for first, same := range map[string]string{"192.0.2.1": "192.0.2.1", "2001:db8::1": "2001:db8::2:3", "::ffff:192.0.2.1": "192.0.2.1"} {
		l := &listed{}
		bounded := boundConnections(l)
		accept := func(n int, address string) (accepted []net.Conn) {
			all := connections(n, address)
			l.conns = append(l.conns, all...)
			for {
				c, err := bounded.Accept()
				if err != nil {
					break
				}
				accepted = append(accepted, c)
			}
			closed := 0
			for _, c := range all {
				if c.closed {
					closed++
				}
			}
			if closed != n-len(accepted) {
				t.Errorf("%s: %d of %d connections accepted, %d closed", address, len(accepted), n, closed)
			}
			return accepted
		}
		held := accept(maxConnections, first)
		if len(held) != maxUnknownConnections {
			t.Errorf("%s: %d connections of one client, want %d", first, len(held), maxUnknownConnections)
		}
		if n := len(accept(more, same)); n != 0 {
			t.Errorf("%s: %d more from %s", first, n, same)
		}
		if n := len(accept(more, "198.51.100.1")); n != more {
			t.Errorf("%s: %d of %d connections of another client", first, n, more)
		}
		for _, c := range held[:more] {
			_ = c.Close()
			_ = c.Close()
		}
		for _, c := range held[more : 2*more] {
			authenticated(withConn(t.Context(), c))
			_ = c.Close()
		}
		if n := len(accept(3*more, same)); n != 2*more {
			t.Errorf("%s: %d connections after %d were closed or have authenticated", first, n, 2*more)
		}
	}
}

// An authenticated request makes room for another connection from its address; a request without a
// token does not.
func TestAuthenticatedConnectionsAreNotCounted(t *testing.T) {
	t.Parallel()
	o := options(t)
	var secret string
	o.Tokens = someTokens(t, &secret)
	h := Handler(o)
	for header, want := range map[string]bool{"": false, "Bearer wrong": false, "Bearer " + secret: true} {
		known := false
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8077/healthz", nil)
		r.Header.Set("Authorization", header)
		h.ServeHTTP(httptest.NewRecorder(), r.WithContext(withConn(t.Context(), &boundedConn{known: func() { known = true }})))
		if known != want {
			t.Errorf("%q: known %t, want %t", header, known, want)
		}
	}
}
