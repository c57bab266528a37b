// Package webproxy runs third-party proxies for tests of proxy use.
package webproxy

import (
	"context"
	"encoding/base64"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	socks5 "github.com/armon/go-socks5"
	"github.com/elazarl/goproxy"
)

// Credentials for the proxies.
const (
	User     = "me"
	Password = "s3cret"
)

// Proxy is a proxy that requires credentials and counts its uses.
type Proxy struct {
	Address string
	n       atomic.Int64
}

// NewHTTP starts an HTTP proxy (goproxy).
func NewHTTP(t *testing.T) *Proxy {
	t.Helper()
	p := &Proxy{}
	h := goproxy.NewProxyHttpServer()
	h.Logger = log.New(io.Discard, "", 0)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte(User+":"+Password)) {
			http.Error(w, "who are you?", http.StatusProxyAuthRequired)
			return
		}
		p.n.Add(1)
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections)
	p.Address = srv.Listener.Addr().String()
	return p
}

// NewSOCKS starts a SOCKS proxy (go-socks5).
func NewSOCKS(t *testing.T) *Proxy {
	t.Helper()
	p := &Proxy{}
	srv, err := socks5.New(&socks5.Config{
		Credentials: socks5.StaticCredentials{User: Password}, Logger: log.New(io.Discard, "", 0),
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			p.n.Add(1)
			var d net.Dialer
			return d.DialContext(ctx, network, address)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = l.Close(); <-done })
	p.Address = l.Addr().String()
	return p
}

// Count returns the number of forwarded requests; for SOCKS, of connections.
func (p *Proxy) Count() int64 { return p.n.Load() }
