package pageproxy

import (
	"net"
	"sync"
)

// tunnelQueue is the listener of the server of the tunnels: it accepts what was
// opened through another connection.
type tunnelQueue struct {
	addr   net.Addr
	opened chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newTunnelQueue(addr net.Addr) *tunnelQueue {
	return &tunnelQueue{addr: addr, opened: make(chan net.Conn), closed: make(chan struct{})}
}

// put hands a tunnel over, or closes it if there is no server any more.
func (q *tunnelQueue) put(c net.Conn) {
	select {
	case q.opened <- c:
	case <-q.closed:
		_ = c.Close()
	}
}

func (q *tunnelQueue) Accept() (net.Conn, error) {
	select {
	case c := <-q.opened:
		return c, nil
	case <-q.closed:
		return nil, net.ErrClosed
	}
}

func (q *tunnelQueue) Close() error { q.close(); return nil }

func (q *tunnelQueue) close() { q.once.Do(func() { close(q.closed) }) }

func (q *tunnelQueue) Addr() net.Addr { return q.addr }
