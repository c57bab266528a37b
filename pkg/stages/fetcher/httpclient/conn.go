package httpclient

import (
	"context"
	"net"
	"runtime"
	"sync/atomic"
	"time"
)

// conn remembers what it took to open it, and can note down what goes over it.
type conn struct {
	net.Conn
	ip                string // "" where a proxy looks the name up
	dns, connect, tls time.Duration
	notes             atomic.Pointer[wireCapture]
	quiet             atomic.Bool // more is being waited for, or nothing is
	begun             atomic.Bool // a request, of whose response nothing was read yet
	head              headReader
}

// begin says that a request is about to be sent, whose exchange is to be noted, or nil.
func (c *conn) begin(notes *wireCapture) {
	c.notes.Store(notes)
	c.begun.Store(true)
}

func (c *conn) Read(p []byte) (int, error) {
	for len(c.head.ready) == 0 && c.head.err == nil {
		c.quiet.Store(true)
		n, err := c.Conn.Read(p)
		c.quiet.Store(err != nil)
		if c.begun.Swap(false) {
			c.head = headReader{reading: true}
		}
		if !c.head.reading {
			return n, err
		}
		final := c.head.take(p[:n], err)
		if to := c.notes.Load(); to != nil && final != nil {
			to.received(final)
		}
	}
	if n := copy(p, c.head.ready); n > 0 {
		c.head.ready = c.head.ready[n:]
		return n, nil
	}
	err := c.head.err
	c.head.err = nil // the next call asks the connection again
	return 0, err
}

// Close is of net.Conn.
func (c *conn) Close() error {
	c.quiet.Store(true)
	return c.Conn.Close()
}

// awaitReadLoop waits until net/http has seen all that it read from a connection that
// it uses again, as it does at once. What came behind the last response makes it
// close the connection; but a request that comes sooner would be answered by it.
func (c *conn) awaitReadLoop(ctx context.Context) {
	for !c.quiet.Load() && ctx.Err() == nil {
		runtime.Gosched()
	}
}

func (c *conn) Write(p []byte) (int, error) {
	to := c.notes.Load()
	if to != nil {
		to.sent(p) // before: the answer may come while Write returns
	}
	n, err := c.Conn.Write(p)
	if to != nil && n < len(p) {
		to.unsent(len(p) - n)
	}
	return n, err
}
