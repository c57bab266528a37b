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
	// headerTimeout bounds the time for a request's head, for the first byte in a tunnel, and for a
	// TLS handshake.
	headerTimeout = 30 * time.Second
	// idleTimeout is usually longer than a page waits between two requests.
	idleTimeout = 5 * time.Minute
	// maxHeader bounds a request's head, in bytes. Chromium sends cookies and URLs of a few tens of
	// kilobytes at most to servers that accept them.
	maxHeader = 256 << 10
)

// Proxy is one port on loopback. It serves one visit at a time.
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

// Listen opens a port of 127.0.0.1 that the system chooses. It logs errors of clients at level
// debug.
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

// Addr returns the address of the port, such as "127.0.0.1:40123".
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Begin begins a visit. It ends a visit that has not ended, and closes connections that clients
// opened before.
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

// Replace replaces the visit's document by another one with the same URL. If d is nil, all requests
// are sent to the web. Without a visit it does nothing.
func (p *Proxy) Replace(d *Document) {
	if v := p.visiting(); v != nil {
		v.main.Store(d)
	}
}

// End ends the visit's requests in progress, closes its connections, and returns its totals. It
// waits until Transport, Allow and Record have returned, which the first two must do soon after
// their context has ended. Without a visit it returns zero.
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

// Close ends the visit and closes the port and all connections. It may be called more than once.
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

// keep adds a connection to the current visit. It returns nil if there are too many, or if the
// proxy is closed.
func (p *Proxy) keep(c *net.TCPConn) *connection {
	p.mu.Lock() // held until it is added: a visit that ends must find it
	defer p.mu.Unlock()
	kept := &connection{TCPConn: c, visit: p.current, of: &p.open}
	if p.closed || !p.open.add(kept) {
		return nil
	}
	return kept
}

// AwaitQuiet waits until no request of the visit is in progress, not counting open WebSockets and
// event streams. Without a visit it does not wait.
func (p *Proxy) AwaitQuiet(ctx context.Context) error {
	if v := p.visiting(); v != nil {
		return v.activity.AwaitQuiet(ctx)
	}
	return nil
}

// FailPending fails the visit's requests in progress: the page gets an error for each. Without a
// visit it does nothing.
func (p *Proxy) FailPending() {
	if v := p.visiting(); v != nil {
		v.failPending()
	}
}

// QuietSince reports whether no request of the visit has been in progress since a time. Without a
// visit it returns true.
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
