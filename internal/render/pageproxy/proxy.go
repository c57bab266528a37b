package pageproxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// headerTimeout bounds the time of a client for a request's head, for the
	// first byte in a tunnel, and for a TLS handshake.
	headerTimeout = 30 * time.Second
	// idleTimeout is longer than a page waits between two requests, as a rule.
	idleTimeout = 5 * time.Minute
	// maxHeader bounds a request's head, in bytes. Chromium sends cookies and URLs of a few
	// tens of kilobytes at most to servers that take them.
	maxHeader = 256 << 10
)

// Proxy is one port on loopback. Visits take turns on it.
type Proxy struct {
	identity *Identity
	log      *slog.Logger
	listener *net.TCPListener
	clients  *http.Server // of the port
	insides  *http.Server // of the tunnels
	tunnels  *tunnelQueue
	serving  sync.WaitGroup
	open     connections

	mu      sync.Mutex
	current *visit // nil between visits
	closed  bool
}

// Listen opens a port of 127.0.0.1 that the system chooses. It logs at
// the level debug what clients do wrong.
func Listen(i *Identity, log *slog.Logger) (*Proxy, error) {
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("listen for the browser: %w", err)
	}
	p := &Proxy{
		identity: i, log: log, listener: l,
		tunnels: newTunnelQueue(l.Addr()),
		open:    connections{open: map[*connection]struct{}{}},
	}
	p.clients = p.server(p.serveClient)
	p.insides = p.server(p.serveTunnelled)
	p.serving.Go(func() { p.serve(p.clients, listener{l, p}) })
	p.serving.Go(func() { p.serve(p.insides, p.tunnels) })
	return p, nil
}

func (p *Proxy) server(h http.HandlerFunc) *http.Server {
	return &http.Server{
		Handler: h, ConnContext: withConnection, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader, DisableGeneralOptionsHandler: true, ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelDebug),
	}
}

func (p *Proxy) serve(s *http.Server, l net.Listener) {
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		p.log.Error("the proxy of a browser's tab has ended: its pages cannot load", "error", err)
	}
}

// Addr is the address of the port, as in "127.0.0.1:40123".
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Begin makes the proxy serve a visit. One that has not ended is ended.
// Connections that clients opened before are closed.
func (p *Proxy) Begin(v Visit) {
	p.End()
	begun := newVisit(v)
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		begun.end()
		return
	}
	p.current = begun
	p.mu.Unlock()
	p.open.closeOf(nil)
}

// Replace makes the visit answer with another document of the same URL from now on; with none if it is nil: then all requests are
// sent. Without a visit it does nothing.
func (p *Proxy) Replace(d *Document) {
	if v := p.visiting(); v != nil {
		v.main.Store(d)
	}
}

// End ends the requests of the visit that are in progress, closes its
// connections, and says what it did. It waits until Transport, Allow and Record have
// returned, which the first two must do soon after their context has ended.
// Without a visit it returns zero.
func (p *Proxy) End() Totals {
	p.mu.Lock()
	v := p.current
	p.current = nil
	p.mu.Unlock()
	if v == nil {
		return Totals{}
	}
	v.end()
	p.open.closeOf(v)
	v.requests.Wait()
	return v.tally.totals()
}

// Close ends the visit and closes the port and all connections. It may be
// called more than once.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.listener.Close()
	p.tunnels.close()
	p.End()
	p.open.closeOf(nil)
	err := errors.Join(p.clients.Close(), p.insides.Close())
	p.serving.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// keep makes a connection one of the current visit. It returns nil if
// there are too many, or the proxy is closed.
func (p *Proxy) keep(c *net.TCPConn) *connection {
	p.mu.Lock() // until it is added: a visit that ends must find it
	defer p.mu.Unlock()
	kept := &connection{TCPConn: c, visit: p.current, of: &p.open}
	if p.closed || !p.open.add(kept) {
		return nil
	}
	return kept
}

// AwaitQuiet waits until no request of the visit is in progress, beside WebSockets and event streams that are open. Without a visit
// it does not wait.
func (p *Proxy) AwaitQuiet(ctx context.Context) error {
	if v := p.visiting(); v != nil {
		return v.activity.AwaitQuiet(ctx)
	}
	return nil
}

// FailPending fails the requests of the visit that are in progress: the page gets an error for each. Without a visit it does nothing.
func (p *Proxy) FailPending() {
	if v := p.visiting(); v != nil {
		v.failPending()
	}
}

// QuietSince reports whether no request of the visit has been in progress since a time. Without a visit there was none.
func (p *Proxy) QuietSince(t time.Time) bool {
	v := p.visiting()
	return v == nil || v.activity.QuietSince(t)
}

// visiting returns the current visit, or nil.
func (p *Proxy) visiting() *visit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}
