package testweb

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Server is a web, or any handler, on a listener.
type Server struct {
	http *httptest.Server
	name func(host int) string
}

// Run serves a web, or any handler, on a free port of 127.0.0.1 until the test ends.
func Run(t testing.TB, h http.Handler) *Server {
	t.Helper()
	s, err := Serve("127.0.0.1:0", h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Serve serves a web, or any handler, on an address until Close.
func Serve(addr string, h http.Handler) (*Server, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("serve test web: %w", err)
	}
	return ServeOn(listener, h), nil
}

// ServeOn is Serve on a listener, which the server closes.
func ServeOn(listener net.Listener, h http.Handler) *Server {
	s := &Server{http: &httptest.Server{Listener: listener, Config: &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 30 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0), // aborted answers are intended
	}}}
	if w, ok := h.(*Web); ok {
		s.name = w.Name
	}
	s.http.Start()
	return s
}

// Addr returns the listening address.
func (s *Server) Addr() string { return s.http.Listener.Addr().String() }

// URL returns the absolute URL of a path of a host. A handler that is not a Web has one host, named
// by its address.
func (s *Server) URL(host int, path string) string {
	authority := s.Addr()
	if s.name != nil {
		authority = s.name(host) + portOf(authority)
	}
	return "http://" + authority + "/" + strings.TrimPrefix(path, "/")
}

// DialContext connects to this server whatever the address, for clients whose resolver does not
// know .localhost names.
func (s *Server) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", s.Addr())
}

// Client returns an HTTP client that reaches every host of the server. It does not follow redirects
// or request compression. Close its idle connections, or the server, when done.
func (s *Server) Client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{DialContext: s.DialContext, DisableCompression: true, MaxIdleConnsPerHost: 16},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// Close cuts all connections and waits until their handlers have returned. It may be called again.
func (s *Server) Close() {
	_ = s.http.Config.Close() // it only returns the error of closing the listener
	s.http.CloseClientConnections()
	s.http.Close()
}
