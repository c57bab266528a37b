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

// DefaultListen is the default address of the server.
const DefaultListen = "127.0.0.1:8077"

// Options configure the server.
type Options struct {
	// Listen is HOST:PORT. Addresses other than loopback require Tokens or TLS with a client CA.
	Listen string
	// PathPrefix is the prefix that a proxy adds to all paths, such as "/seine"; "" for none.
	PathPrefix string
	// Hosts are names of the server in addition to that of Listen and those of loopback.
	Hosts []string
	// ReadOnly rejects all changes.
	ReadOnly bool
	// Tokens authenticate callers; nil requires no token.
	Tokens *tokens.Store
	TLS    TLS
	// Rate is the limit of requests per second for each caller.
	Rate float64
	// API serves paths below /api/. Harmless are the patterns (http.ServeMux) of its operations
	// other than GET that change nothing.
	API      http.Handler
	Harmless []string
	// MCP serves /mcp, by means of Calls.
	MCP http.Handler
	// Pages serves all other paths, without the prefix. Style is the path of their style sheet,
	// below /static/, which needs no authentication.
	Pages http.Handler
	Style string
	Audit *audit.Log
	Log   *slog.Logger
}

// DefaultRate exceeds the needs of users and pages. It slows down programs in a loop.
const DefaultRate = 500

// Handler returns the complete handler.
func Handler(o *Options) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/api/", o.API)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /login", o.showLogin)
	mux.HandleFunc("POST /login", o.login)
	mux.HandleFunc("POST /logout", o.logout)
	mux.Handle("/", o.Pages)
	all := http.NewServeMux()
	// A message to the tools is not a write by itself; the calls that it makes are guarded.
	all.Handle(mcp.Path, o.limitCallers(limitBodies(maxMessage, o.MCP)))
	all.Handle("/", o.guard(mux))
	h := o.authenticate(all)
	h = refuseCrossOrigin(h)
	h = o.stripPrefix(h)
	h = o.checkHost(h)
	return responseHeaders(h)
}

// guard limits and logs the requests of authenticated callers.
func (o *Options) guard(h http.Handler) http.Handler {
	h = limitBodies(maxBody, h)
	h = o.readOnly(h)
	h = o.audited(h)
	return o.limitCallers(h)
}

// Calls returns the API for requests from within the process, with their caller in the context. The
// same limits apply as to clients.
func (o *Options) Calls() http.Handler { return o.guard(o.API) }

// stripPrefix removes the prefix, and rejects paths without it.
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

// Validate returns an error that names the invalid option and the valid values.
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

// Limits of connections, so that slow clients do not block others.
const (
	headerTimeout  = 10 * time.Second // to receive the header of a request
	idleTimeout    = 2 * time.Minute  // between two requests
	maxHeaderBytes = 32 << 10
	maxStreams     = 64              // per HTTP/2 connection; each has its own header
	maxReceived    = 256 << 10       // unread body bytes of an HTTP/2 connection
	stopTimeout    = 5 * time.Second // for in-flight requests at shutdown
)

// Open listens at the address of the options.
func (o *Options) Open() (net.Listener, error) {
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("--listen %s: %w (another address is given by --listen HOST:PORT)", o.Listen, err)
	}
	return o.TLS.listen(boundConnections(l))
}

// URL returns the URL of the server that listens on l.
func (o *Options) URL(l net.Listener) string {
	scheme := "http"
	if o.TLS.Cert != "" {
		scheme = "https"
	}
	return scheme + "://" + l.Addr().String() + o.PathPrefix + "/"
}

// Serve serves requests on l until ctx is done. It then also ends event streams.
func Serve(ctx context.Context, o *Options, l net.Listener) error {
	s := &http.Server{
		Handler: Handler(o), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		HTTP2:       &http.HTTP2Config{MaxConcurrentStreams: maxStreams, MaxReceiveBufferPerConnection: maxReceived, MaxReceiveBufferPerStream: maxReceived},
		ErrorLog:    slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug), // at debug level, because a hostile client could fill a disk
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
