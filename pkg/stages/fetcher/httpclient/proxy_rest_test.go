package httpclient

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"seine/pkg/messages"
)

// A proxy that a site has refused, or challenged, rests, and another takes its turn. The
// only one that works is taken all the same; one that failed is not.
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
