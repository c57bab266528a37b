// Package faultproxy is a network between two processes that can be broken: a TCP proxy
// in front of a server, through which a test or a rig has others reach it, and
// which cuts, resets, holds back or delays what passes. For all to be at its mercy,
// nobody may know another way to the server.
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

// Proxy passes connections on to a server. It is safe for concurrent use.
type Proxy struct {
	listener net.Listener
	ctx      context.Context // done when the link is closed
	close    context.CancelFunc
	running  sync.WaitGroup

	mu       sync.Mutex
	target   string // address of the server, "" while there is none
	refuses  bool
	there    gate // what passes in both directions
	back     gate // what the server says, besides
	delay    time.Duration
	conns    map[net.Conn]struct{}
	accepted int
}

// New opens a link to the server at an address, on a free port of the loopback
// interface. With "" for an address it refuses connections until it points
// somewhere.
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

// Addr is where the server is to be reached.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Accepted is how many connections have been let through to the server.
func (p *Proxy) Accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}

// Close ends the link and all its connections.
func (p *Proxy) Close() {
	p.close()
	_ = p.listener.Close()
	p.Reset()
	p.running.Wait()
}

// SetTarget sets where connections lead from now on; "" ends them as they come.
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

// Reset breaks off what is open, once. What is held back is lost.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		breakOff(c)
	}
}

// Blackhole lets nothing pass, either way, and says so to nobody: not even that a
// peer is gone. Until Restore.
func (p *Proxy) Blackhole() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.there.shut()
}

// DropResponses lets nothing pass that the server says: connections are half open, until
// Heal.
func (p *Proxy) DropResponses() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.back.shut()
}

// Restore ends Cut, Blackhole and DropResponses. What was held back arrives now, as TCP would
// send it again, where its connection still is.
func (p *Proxy) Restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuses = false
	p.there.open()
	p.back.open()
}

// Delay makes everything take so much longer on its way, in each direction; 0 ends
// that.
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

// serve passes on one connection until either side ends it.
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

// leads says where one more connection leads.
func (p *Proxy) leads() (target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accepted++
	return p.target
}

// keep takes note of a connection, unless none may be.
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

// pass waits until what goes there, or comes back, is let through, and reports
// whether the link is still there.
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

// shut returns what is closed when a gate in the way opens, nil if none is shut.
func (p *Proxy) shut(back bool) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if wait := p.there.opens; wait != nil || !back {
		return wait
	}
	return p.back.opens
}

// chunk is what was read at once, and when it is to arrive.
type chunk struct {
	data []byte
	due  time.Time
}

// On their way are at most so many chunks, and so many bytes in each.
const (
	chunksAhead = 256
	chunkBytes  = 32 << 10
)

// copy passes on what comes from one side, late by the link's delay, and then its
// end.
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
	_ = to.Close() // a server that is gone ends both ways, and neither needs half of one
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

// gate is open, or others wait for it to be.
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
