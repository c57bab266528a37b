// Package faultproxy simulates a faulty network between two processes. It is a TCP proxy in front
// of a server that can cut, reset, hold back or delay traffic. Clients must not know another
// address of the server.
package faultproxy

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// dialTime bounds how long a server may take to accept a connection.
const dialTime = 5 * time.Second

// Proxy forwards connections to a server. It is safe for concurrent use.
type Proxy struct {
	listener net.Listener
	ctx      context.Context // done when the proxy is closed
	close    context.CancelFunc
	running  sync.WaitGroup

	mu       sync.Mutex
	target   string // address of the server, "" for none
	refuses  bool
	there    gate // traffic in both directions
	back     gate // traffic from the server, in addition
	delay    time.Duration
	conns    map[net.Conn]struct{}
	accepted int
}

// New starts a proxy to the server at an address, on a free port of the loopback interface. With an
// empty address it closes connections until SetTarget sets one.
func New(target string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a link to %s: %w", target, err)
	}
	k := &Proxy{listener: l, target: target, conns: make(map[net.Conn]struct{})}
	k.there.open()
	k.back.open()
	k.ctx, k.close = context.WithCancel(context.Background())
	k.running.Go(k.accept)
	return k, nil
}

// Addr returns the address of the proxy.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Accepted returns the number of connections that were forwarded to the server.
func (p *Proxy) Accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}

// Close closes the proxy and all its connections.
func (p *Proxy) Close() {
	p.close()
	_ = p.listener.Close()
	p.Reset()
	p.running.Wait()
}

// SetTarget sets the target of new connections; with "" they are closed at once.
func (p *Proxy) SetTarget(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Cut resets all connections and refuses new ones, until Restore.
func (p *Proxy) Cut() {
	p.mu.Lock()
	p.refuses = true
	p.mu.Unlock()
	p.Reset()
}

// Reset resets all open connections once. Data that is held back is lost.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		breakOff(c)
	}
}

// Blackhole silently stops all traffic in both directions, including the end of connections, until
// Restore.
func (p *Proxy) Blackhole() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.there.shut()
}

// DropResponses stops traffic from the server, so that connections are half open, until Restore.
func (p *Proxy) DropResponses() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.back.shut()
}

// Restore ends Cut, Blackhole and DropResponses. Data that was held back arrives now, as after a
// TCP retransmission, if its connection is still open.
func (p *Proxy) Restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuses = false
	p.there.open()
	p.back.open()
}

// Delay adds a latency in each direction; 0 ends it.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.serve(c) })
	}
}

// serve forwards one connection until either side ends it.
func (p *Proxy) serve(near net.Conn) {
	defer p.drop(near)
	if !p.keep(near) || !p.pass(false) {
		return
	}
	target := p.leads()
	if target == "" {
		return
	}
	d := net.Dialer{Timeout: dialTime}
	far, err := d.DialContext(p.ctx, "tcp", target)
	if err != nil {
		return
	}
	defer p.drop(far)
	if !p.keep(far) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.copy(far, near, false) })
	p.copy(near, far, true)
	both.Wait()
}

// leads counts a connection and returns its target.
func (p *Proxy) leads() (target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accepted++
	return p.target
}

// keep registers a connection, or resets it and returns false if the proxy refuses connections or
// is closed.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuses || p.ctx.Err() != nil {
		breakOff(c)
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *Proxy) drop(c net.Conn) {
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
	_ = c.Close()
}

// breakOff closes a connection so that its peer sees a reset.
func breakOff(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

// pass waits until the gate of a direction is open. It reports whether the proxy is still open.
func (p *Proxy) pass(back bool) bool {
	for {
		wait := p.shut(back)
		if wait == nil {
			return p.ctx.Err() == nil
		}
		select {
		case <-p.ctx.Done():
			return false
		case <-wait:
		}
	}
}

// shut returns a channel that is closed when a shut gate opens, or nil if no gate is shut.
func (p *Proxy) shut(back bool) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if wait := p.there.opens; wait != nil || !back {
		return wait
	}
	return p.back.opens
}

// chunk is the data of one read and its time of arrival.
type chunk struct {
	data []byte
	due  time.Time
}

// Limits of data in transit: the number of chunks and the bytes in each.
const (
	chunksAhead = 256
	chunkBytes  = 32 << 10
)

// copy forwards the data and the end of one direction, late by the proxy's delay.
func (p *Proxy) copy(to, from net.Conn, back bool) {
	way := make(chan chunk, chunksAhead)
	p.running.Go(func() { p.read(from, way) })
	open := true
	for c := range way {
		wait := time.NewTimer(time.Until(c.due))
		select {
		case <-wait.C:
		case <-p.ctx.Done():
			wait.Stop()
		}
		if open && p.pass(back) {
			_, err := to.Write(c.data)
			open = err == nil
		}
		if !open {
			_ = from.Close()
		}
	}
	p.pass(back)
	_ = to.Close() // if the server is gone, both directions end; neither end needs a half-closed connection
}

func (p *Proxy) read(from net.Conn, way chan<- chunk) {
	defer close(way)
	for {
		b := make([]byte, chunkBytes)
		n, err := from.Read(b)
		if n > 0 {
			way <- chunk{b[:n], time.Now().Add(p.late())}
		}
		if err != nil {
			return
		}
	}
}

func (p *Proxy) late() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.delay
}

// gate is open or shut; others wait until it opens.
type gate struct{ opens chan struct{} } // nil while it is open

func (g *gate) shut() {
	if g.opens == nil {
		g.opens = make(chan struct{})
	}
}

func (g *gate) open() {
	if g.opens != nil {
		close(g.opens)
		g.opens = nil
	}
}
