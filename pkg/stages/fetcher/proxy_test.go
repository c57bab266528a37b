package fetcher

import (
	"context"
	"encoding/base64"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	socks5 "github.com/armon/go-socks5"
	"github.com/elazarl/goproxy"

	"seine/pkg/messages"
)

// through counts what goes through a proxy.
type through struct {
	address string
	n       atomic.Int64
}

// newHTTPProxy runs goproxy, for those who know the password.
func newHTTPProxy(t *testing.T) *through {
	t.Helper()
	p := &through{}
	h := goproxy.NewProxyHttpServer()
	h.Logger = log.New(io.Discard, "", 0)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte("me:s3cret")) {
			http.Error(w, "who are you?", http.StatusProxyAuthRequired)
			return
		}
		p.n.Add(1)
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections)
	p.address = srv.Listener.Addr().String()
	return p
}

// newSOCKSProxy runs go-socks5.
func newSOCKSProxy(t *testing.T) *through {
	t.Helper()
	p := &through{}
	srv, err := socks5.New(&socks5.Config{
		Credentials: socks5.StaticCredentials{"me": "s3cret"}, Logger: log.New(io.Discard, "", 0),
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
	p.address = l.Addr().String()
	return p
}

func proxied(t *testing.T, yaml string) *fetcherFixture {
	t.Helper()
	t.Setenv("SEINE_SECRET_PROXY", "s3cret")
	return withSpec(t, "tls: {insecure: true}\n"+yaml)
}

func TestProxies(t *testing.T) {
	plain := newEcho(t)
	secure := httptest.NewTLSServer(plain.Config.Handler)
	t.Cleanup(secure.Close)
	for scheme, p := range map[string]*through{"http": newHTTPProxy(t), "socks5": newSOCKSProxy(t)} {
		for _, site := range []string{plain.URL, secure.URL} {
			t.Run(scheme+" to "+site[:5], func(t *testing.T) {
				s := proxied(t, "proxies: ['"+scheme+"://me:{secret:PROXY}@"+p.address+"']")
				before := p.n.Load()
				h := s.get(site + "/a?b=c")
				h.wants(t, messages.OK)
				if p.n.Load() != before+1 {
					t.Error("it did not go through the proxy")
				}
				if got := plain.last(t); got.RequestURI != "/a?b=c" || got.Header.Get("Proxy-Authorization") != "" {
					t.Errorf("the site saw %s %v", got.RequestURI, got.Header)
				}
			})
			t.Run(scheme+" to "+site[:5]+" without the password", func(t *testing.T) {
				s := proxied(t, "max_attempts: 1\nproxies: ['"+scheme+"://me:{secret:PROXY}@"+p.address+"']")
				t.Setenv("SEINE_SECRET_PROXY", "wrong")
				h := s.get(site + "/")
				h.wants(t, messages.ProxyFailure)
				if strings.Contains(h.Error, "wrong") {
					t.Errorf("the error tells the password: %s", h.Error)
				}
			})
		}
	}
}

// Several proxies take turns, one that is down rests, and the host hears of
// neither.
func TestProxiesTakeTurns(t *testing.T) {
	site := newEcho(t)
	a, b := newHTTPProxy(t), newHTTPProxy(t)
	s := proxied(t, "proxies: ['http://me:{secret:PROXY}@"+a.address+"', 'http://127.0.0.1:1', 'http://me:{secret:PROXY}@"+b.address+"']")
	for range 12 {
		s.get(site.URL+"/").wants(t, messages.OK)
	}
	if a.n.Load()+b.n.Load() != 12 || a.n.Load() < 4 || b.n.Load() < 4 {
		t.Errorf("the proxies saw %d and %d requests of 12", a.n.Load(), b.n.Load())
	}
}

func TestSourcesHaveTheirOwnProxies(t *testing.T) {
	site := newEcho(t)
	p := newHTTPProxy(t)
	proxied(t, "sources:\n- hosts: [other.example]\n  proxies: ['http://me:{secret:PROXY}@"+p.address+"']").
		get(site.URL+"/").wants(t, messages.OK)
	if p.n.Load() != 0 {
		t.Error("a source that is not the host's decided")
	}
}

// A proxy is no way around the address guard: neither itself nor its target may
// be where the crawl must not go.
func TestGuardHoldsForProxies(t *testing.T) {
	t.Setenv("SEINE_SECRET_PROXY", "s3cret")
	for scheme, p := range map[string]*through{"http": newHTTPProxy(t), "socks5": newSOCKSProxy(t)} {
		yaml := "robots: ignore\ndelay: 0s\nproxies: ['" + scheme + "://me:{secret:PROXY}@" + p.address + "']\n"
		t.Run(scheme+" is private", func(t *testing.T) {
			newFetcherFixture(t, specOption(t, yaml)).get("http://192.0.2.1/").wants(t, map[string]messages.Class{
				"http": messages.RefusedAddress, "socks5": messages.RefusedAddress,
			}[scheme])
			h := newFetcherFixture(t, specOption(t, yaml)).get("http://93.184.216.34/")
			h.wants(t, messages.Misconfigured)
		})
		t.Run(scheme+" to a private target", func(t *testing.T) {
			target := "http://10.1.2.3/"
			newFetcherFixture(t, specOption(t, yaml+"allow_addresses: [127.0.0.0/8]")).get(target).wants(t, messages.RefusedAddress)
			if p.n.Load() != 0 {
				t.Error("the proxy was asked")
			}
		})
	}
}
