package pageproxy

import (
	"net"
	"sync"
)

// tunnelQueue is the listener of the server for tunnels, which were opened through other
// connections.
type tunnelQueue struct {
	addr   net.Addr
	opened chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newTunnelQueue(addr net.Addr) *tunnelQueue {
	return &tunnelQueue{addr: addr, opened: make(chan net.Conn), closed: make(chan struct{})}
}

// put passes a tunnel to the server, or closes it if the server has ended.
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
