package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"seine/internal/serve/audit"
	"seine/internal/serve/mcp"
	"seine/internal/serve/problem"
	"seine/internal/serve/tokens"
)

// DefaultListen is where the server listens if nobody says otherwise.
const DefaultListen = "127.0.0.1:8077"

// Options of a server.
type Options struct {
	// Listen is HOST:PORT. Other than loopback it needs Tokens or TLS with a client CA.
	Listen string
	// PathPrefix is what a proxy has before all paths, such as "/seine"; "" for none.
	PathPrefix string
	// Hosts are names by which clients may call the server, beside that of Listen and those of loopback.
	Hosts []string
	// ReadOnly refuses all that changes anything.
	ReadOnly bool
	// Tokens let callers in; nil asks for none.
	Tokens *tokens.Store
	TLS    TLS
	// Rate is how many requests a second one caller may send.
	Rate float64
	// API answers below /api/, and Harmless are the patterns of its operations, as of http.ServeMux, that
	// change nothing although they are no GET.
	API      http.Handler
	Harmless []string
	// MCP answers at /mcp, by way of Calls.
	MCP http.Handler
	// Pages answers for all other paths, without the prefix. Style is the path of their style sheet, below
	// /static/, which needs no caller.
	Pages http.Handler
	Style string
	Audit *audit.Log
	Log   *slog.Logger
}

// DefaultRate is more than any person or page needs: a program in a loop is slowed down.
const DefaultRate = 500

// Handler returns the handler of everything.
func Handler(o *Options) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/api/", o.API)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /login", o.showLogin)
	mux.HandleFunc("POST /login", o.login)
	mux.HandleFunc("POST /logout", o.logout)
	mux.Handle("/", o.Pages)
	all := http.NewServeMux()
	// A message to the tools is no write by itself: what it calls is guarded.
	all.Handle(mcp.Path, o.limitCallers(limitBodies(maxMessage, o.MCP)))
	all.Handle("/", o.guard(mux))
	h := o.authenticate(all)
	h = refuseCrossOrigin(h)
	h = o.stripPrefix(h)
	h = o.checkHost(h)
	return responseHeaders(h)
}

// guard holds requests, whose caller is known, to what is allowed, and writes them down.
func (o *Options) guard(h http.Handler) http.Handler {
	h = limitBodies(maxBody, h)
	h = o.readOnly(h)
	h = o.audited(h)
	return o.limitCallers(h)
}

// Calls returns the API for requests from within the process that have their caller in the context: they are
// held to what requests of clients are held to.
func (o *Options) Calls() http.Handler { return o.guard(o.API) }

// stripPrefix takes the prefix off, and refuses paths without it.
func (o *Options) stripPrefix(next http.Handler) http.Handler {
	if o.PathPrefix == "" {
		return next
	}
	inner := http.StripPrefix(o.PathPrefix, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, o.PathPrefix+"/"):
			inner.ServeHTTP(w, r)
		case r.URL.Path == o.PathPrefix || r.URL.Path == "/":
			http.Redirect(w, r, o.PathPrefix+"/", http.StatusFound)
		default:
			problem.Write(w, http.StatusNotFound, "all paths begin with "+o.PathPrefix+"/ (--path-prefix): add it")
		}
	})
}

// Validate names the option that is wrong, and what would be right.
func (o *Options) Validate() error {
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return fmt.Errorf("--listen %q: must be HOST:PORT, such as %s", o.Listen, DefaultListen)
	}
	if p := o.PathPrefix; p != "" && (!strings.HasPrefix(p, "/") || strings.HasSuffix(p, "/") || strings.ContainsAny(p, "?#%{} \t\r\n")) {
		return fmt.Errorf("--path-prefix %q: must begin with / and not end with it, such as /seine", p)
	}
	if !(o.Rate > 0) {
		return fmt.Errorf("--rate %g: must be positive", o.Rate)
	}
	if err := cmp.Or(o.checkHosts(), o.TLS.validate()); err != nil {
		return err
	}
	return o.checkExposure(host)
}

// Limits of connections, so that slow clients hold up nobody else.
const (
	headerTimeout  = 10 * time.Second // for the head of a request
	idleTimeout    = 2 * time.Minute  // between two requests
	maxHeaderBytes = 32 << 10
	maxStreams     = 64              // of one connection of HTTP/2, each with a head of its own
	maxReceived    = 256 << 10       // bytes of bodies that a connection of HTTP/2 sends before they are read
	stopTimeout    = 5 * time.Second // for requests in progress, at the end
)

// Open listens at the address of the options.
func (o *Options) Open() (net.Listener, error) {
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("--listen %s: %w (another address is given by --listen HOST:PORT)", o.Listen, err)
	}
	return o.TLS.listen(boundConnections(l))
}

// URL is where a person finds the server that listens on l.
func (o *Options) URL(l net.Listener) string {
	scheme := "http"
	if o.TLS.Cert != "" {
		scheme = "https"
	}
	return scheme + "://" + l.Addr().String() + o.PathPrefix + "/"
}

// Serve answers on l until ctx is done. Streams of events end then, too.
func Serve(ctx context.Context, o *Options, l net.Listener) error {
	s := &http.Server{
		Handler: Handler(o), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		HTTP2:       &http.HTTP2Config{MaxConcurrentStreams: maxStreams, MaxReceiveBufferPerConnection: maxReceived, MaxReceiveBufferPerStream: maxReceived},
		ErrorLog:    slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug), // a hostile client could fill a disk
		BaseContext: func(net.Listener) context.Context { return ctx }, ConnContext: withConn,
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		if s.Shutdown(stopping) != nil {
			_ = s.Close()
		}
	})
	err := s.Serve(l)
	if !stop() {
		<-ended
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve: %w", err)
}
