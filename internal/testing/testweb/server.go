package testweb

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Server is a web, or any handler, on a listener.
type Server struct {
	listener net.Listener
	http     *http.Server
	name     func(host int) string
	served   chan struct{}
	conns    sync.WaitGroup
}

// Start serves the web on a free port of 127.0.0.1.
func (w *Web) Start() (*Server, error) { return w.StartOn("127.0.0.1:0") }

// StartOn serves the web on an address.
func (w *Web) StartOn(addr string) (*Server, error) {
	listener, err := listen(addr)
	if err != nil {
		return nil, err
	}
	return w.StartAt(listener), nil
}

// StartAt serves the web on a listener, which the server closes.
func (w *Web) StartAt(listener net.Listener) *Server {
	s := serve(listener, w)
	s.name = w.Name
	return s
}

// Serve serves any handler, such as Demo, on an address.
func Serve(addr string, h http.Handler) (*Server, error) {
	listener, err := listen(addr)
	if err != nil {
		return nil, err
	}
	return serve(listener, h), nil
}

func listen(addr string) (net.Listener, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("serve test web: %w", err)
	}
	return listener, nil
}

func serve(listener net.Listener, h http.Handler) *Server {
	s := &Server{listener: listener, served: make(chan struct{})}
	s.http = &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 30 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0), // aborted answers are meant
		ConnState:         s.track,
	}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(listener)
	}()
	return s
}

// Addr is the address listened on.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// URL is the absolute URL of a path of a host. A handler that is no Web has one host, named by its address.
func (s *Server) URL(host int, path string) string {
	authority := s.Addr()
	if s.name != nil {
		authority = s.name(host) + portOf(authority)
	}
	return "http://" + authority + "/" + strings.TrimPrefix(path, "/")
}

// DialContext connects to this server whatever the address, for clients whose resolver knows no .localhost names.
func (s *Server) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", s.Addr())
}

// Client returns an HTTP client that reaches every host here. It follows no redirects and asks for no compression.
// Close its idle connections, or the server, when done.
func (s *Server) Client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{DialContext: s.DialContext, DisableCompression: true, MaxIdleConnsPerHost: 16},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// Close cuts all connections and waits until their handlers have returned. It may be called again.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.served
	_ = s.http.Close() // a connection accepted while the first ran
	s.conns.Wait()
	return err
}

func (s *Server) track(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.conns.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.conns.Done()
	}
}
