package natstest

import (
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy forwards TCP connections between clients and a broker. It can drop data of both directions,
// like a broken network.
type Proxy struct {
	net.Listener
	to string
	// Swallow makes the proxy drop all data.
	Swallow atomic.Bool
	mu      sync.Mutex
	conns   []net.Conn
	wg      sync.WaitGroup
}

// NewProxy starts a proxy to a broker.
func NewProxy(t *testing.T, br *Broker) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Listener: l, to: strings.TrimPrefix(br.URL(), "nats://")}
	p.wg.Go(p.accept)
	t.Cleanup(func() { _ = l.Close(); p.Cut(); p.wg.Wait() })
	return p
}

// URL returns the client URL of the proxy.
func (p *Proxy) URL() string { return "nats://" + p.Addr().String() }

func (p *Proxy) accept() {
	for {
		client, err := p.Accept()
		if err != nil {
			return
		}
		broker, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, broker)
		p.mu.Unlock()
		p.wg.Go(func() { p.forward(broker, client) })
		p.wg.Go(func() { p.forward(client, broker) })
	}
}

func (p *Proxy) forward(to, from net.Conn) {
	defer to.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if p.Swallow.Load() {
			continue
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// Cut closes every connection and ends Swallow; later connections work.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Swallow.Store(false)
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}
