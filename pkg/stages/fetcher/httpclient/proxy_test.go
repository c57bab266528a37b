package httpclient

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"seine/internal/testing/await"
	"seine/internal/testing/echoserver"
	"seine/internal/testing/webproxy"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

func proxied(t *testing.T, password, yaml string) *clientFixture {
	t.Helper()
	t.Setenv("SEINE_SECRET_PROXY", password)
	return withPrivate(t, "tls: {insecure: true}\n"+yaml)
}

func TestProxies(t *testing.T) {
	plain := echoserver.New(t)
	secure := httptest.NewTLSServer(plain.Config.Handler)
	t.Cleanup(secure.Close)
	for scheme, p := range map[string]*webproxy.Proxy{"http": webproxy.NewHTTP(t), "socks5": webproxy.NewSOCKS(t)} {
		for _, site := range []string{plain.URL, secure.URL} {
			t.Run(scheme+" to "+site[:5], func(t *testing.T) {
				s := proxied(t, webproxy.Password, "proxies: ['"+scheme+"://me:{secret:PROXY}@"+p.Address+"']")
				before := p.Count()
				h := s.get(site + "/a?b=c")
				h.wants(t, messages.OK)
				if p.Count() != before+1 {
					t.Error("it did not go through the proxy")
				}
				if got := plain.Last(t); got.RequestURI != "/a?b=c" || got.Header.Get("Proxy-Authorization") != "" {
					t.Errorf("the site saw %s %v", got.RequestURI, got.Header)
				}
			})
			t.Run(scheme+" to "+site[:5]+" without the password", func(t *testing.T) {
				s := proxied(t, "wrong", "proxies: ['"+scheme+"://me:{secret:PROXY}@"+p.Address+"']")
				h := s.get(site + "/")
				h.wants(t, messages.ProxyFailure)
				if strings.Contains(h.Text, "wrong") {
					t.Errorf("the error tells the password: %s", h.Text)
				}
			})
		}
	}
}

// Several proxies are used in turn, one that is down rests, and the host notices neither.
func TestProxiesTakeTurns(t *testing.T) {
	site := echoserver.New(t)
	a, b := webproxy.NewHTTP(t), webproxy.NewHTTP(t)
	s := proxied(t, webproxy.Password, "proxies: ['http://me:{secret:PROXY}@"+a.Address+"', 'http://127.0.0.1:1', 'http://me:{secret:PROXY}@"+b.Address+"']")
	for range 12 {
		s.get(site.URL+"/").wants(t, messages.OK)
	}
	if a.Count()+b.Count() != 12 || a.Count() < 4 || b.Count() < 4 {
		t.Errorf("the proxies saw %d and %d requests of 12", a.Count(), b.Count())
	}
}

func TestSourcesHaveTheirOwnProxies(t *testing.T) {
	site := echoserver.New(t)
	p := webproxy.NewHTTP(t)
	proxied(t, webproxy.Password, "sources:\n- hosts: [other.example]\n  proxies: ['http://me:{secret:PROXY}@"+p.Address+"']").
		get(site.URL+"/").wants(t, messages.OK)
	if p.Count() != 0 {
		t.Error("a source that is not the host's decided")
	}
}

// A proxy does not bypass the address guard: neither the proxy nor its target may have a forbidden
// address.
func TestGuardHoldsForProxies(t *testing.T) {
	t.Setenv("SEINE_SECRET_PROXY", webproxy.Password)
	for scheme, p := range map[string]*webproxy.Proxy{"http": webproxy.NewHTTP(t), "socks5": webproxy.NewSOCKS(t)} {
		yaml := "proxies: ['" + scheme + "://me:{secret:PROXY}@" + p.Address + "']\n"
		t.Run(scheme+" is private", func(t *testing.T) {
			withSpec(t, yaml).get("http://192.0.2.1/").wants(t, map[string]messages.Class{
				"http": messages.RefusedAddress, "socks5": messages.RefusedAddress,
			}[scheme])
			h := withSpec(t, yaml).get("http://93.184.216.34/")
			h.wants(t, messages.Misconfigured)
		})
		t.Run(scheme+" to a private target", func(t *testing.T) {
			target := "http://10.1.2.3/"
			withSpec(t, yaml+"allow_addresses: [127.0.0.0/8]").get(target).wants(t, messages.RefusedAddress)
			if p.Count() != 0 {
				t.Error("the proxy was asked")
			}
		})
	}
}

// A proxy that a site has refused or challenged rests, and another takes its turn. If it is the
// only one that works, it is used nevertheless; a proxy that failed is not.
func TestRefusedProxyRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &proxy{key: "a"}, &proxy{key: "b"}
		m := &profile{proxies: []*proxy{a, b}}
		next := func() (keys string) {
			t.Helper()
			for range 4 {
				p, err := m.proxy(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				keys += p.key
			}
			return keys
		}
		want := func(when, keys string) {
			t.Helper()
			if got := next(); got != keys {
				t.Errorf("%s: %s, want %s", when, got, keys)
			}
		}
		want("at first", "abab")
		a.ended(&Reply{Class: messages.Blocked, Status: http.StatusOK})
		want("when a was challenged", "bbbb")
		time.Sleep(minProxyRest)
		want("a second later", "abab")
		a.ended(&Reply{Class: messages.ClientError, Status: http.StatusForbidden})
		time.Sleep(minProxyRest)
		want("when a was refused after that", "bbbb")
		b.ended(&Reply{Class: messages.Blocked})
		want("when both were", "abab")
		b.ended(&Reply{Class: messages.ProxyFailure})
		want("when b failed", "aaaa")
		a.ended(&Reply{Class: messages.OK, Status: http.StatusOK})
		b.ended(&Reply{Class: messages.Gone, Status: http.StatusNotFound})
		want("when both were let through", "abab")
		a.ended(&Reply{Class: messages.ProxyFailure})
		b.ended(&Reply{Class: messages.ProxyFailure})
		began := time.Now()
		if next(); time.Since(began) != minProxyRest {
			t.Errorf("when both failed, it took %v", time.Since(began))
		}
	})
}

// The proxies of specs that are no longer used take no memory; those of a policy in use are shared.
func TestProxiesOfFormerPoliciesAreDropped(t *testing.T) {
	c := newClientFixture(t)
	specOf := func(round, n int) *crawlspec.Spec {
		spec := crawlspec.Default()
		for i := range n {
			spec.Proxies = append(spec.Proxies, fmt.Sprintf("http://proxy-%d-%d.example:8080", round, i))
		}
		return &spec
	}
	kept := c.Compile(specOf(0, 10))
	for round := range 20 {
		c.Compile(specOf(round, 500))
	}
	known := func() int {
		c.pools.mu.RLock()
		defer c.pools.mu.RUnlock()
		return len(c.pools.proxies)
	}
	await.Eventually(t, "only the proxies of the policy in use are kept", func() bool {
		runtime.GC()
		return known() == 10
	})
	if again := c.Compile(specOf(0, 1)); again.others.proxies[0] != kept.others.proxies[0] {
		t.Error("two specs in use do not share a proxy")
	}
	runtime.KeepAlive(kept)
}

// Transports are keyed by settings of a spec; long keys do not accumulate.
func TestPoolKeysAreBounded(t *testing.T) {
	c := newClientFixture(t)
	long := strings.Repeat("x", 1<<20)
	for i := range 50 {
		c.pools.pool(transportKey{proxy: fmt.Sprintf("http://%s%d:80", long, i)})
	}
	size := 0
	for key := range c.pools.pools {
		size += key.size()
	}
	if size > 16<<20 || size != c.pools.keys || len(c.pools.pools) < 2 {
		t.Errorf("%d pools with keys of %d bytes, counted as %d, want at most 16 MiB", len(c.pools.pools), size, c.pools.keys)
	}
}
