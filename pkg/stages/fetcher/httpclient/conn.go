package httpclient

import (
	"context"
	"net"
	"runtime"
	"sync/atomic"
	"time"
)

// conn records the timings of its opening, and can record the exchange on it.
type conn struct {
	net.Conn
	ip                string // "" if a proxy looks up the name
	dns, connect, tls time.Duration
	notes             atomic.Pointer[wireCapture]
	quiet             atomic.Bool // waiting for more data, or closed
	begun             atomic.Bool // a request was begun, and nothing of its response was read yet
	head              headReader
}

// begin announces a request. The connection records its exchange in notes, unless that is nil.
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
	c.head.err = nil // the next call reads from the connection again
	return 0, err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.quiet.Store(true)
	return c.Conn.Close()
}

// awaitReadLoop waits until net/http has seen all data that it read from a reused connection, which
// it does at once. Data after the last response makes it close the connection; but a request that
// is sent earlier would get that data as its response.
func (c *conn) awaitReadLoop(ctx context.Context) {
	for !c.quiet.Load() && ctx.Err() == nil {
		runtime.Gosched()
	}
}

func (c *conn) Write(p []byte) (int, error) {
	to := c.notes.Load()
	if to != nil {
		to.sent(p) // before writing: the response may arrive while Write returns
	}
	n, err := c.Conn.Write(p)
	if to != nil && n < len(p) {
		to.unsent(len(p) - n)
	}
	return n, err
}
