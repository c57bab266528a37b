package fetcher

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"seine/internal/testing/echoserver"
	"seine/internal/testing/nameserver"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Neither a redirect of a page nor one of robots.txt leads into the private network.
func TestRedirectsIntoThePrivateNetworkAreRefused(t *testing.T) {
	t.Parallel()
	secret := echoserver.New(t)
	dns := nameserver.New(t)
	dns.Say("public.test", "127.0.0.2")
	l, err := net.Listen("tcp4", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(http.RedirectHandler(secret.URL+"/secret", http.StatusFound))
	_ = srv.Listener.Close()
	srv.Listener = l
	srv.Start()
	t.Cleanup(srv.Close)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	public := "http://public.test:" + port

	asking := func(c *Config, _ *crawlspec.Spec, _ *testweb.Config) { c.Resolver = []string{dns.Address} }

	s := newFetcherFixture(t, specOption(t, "robots: ignore\ndelay: 0s\nallow_addresses: [127.0.0.2/32]"), asking)
	h := s.get(public + "/page")
	h.wants(t, messages.Redirect)
	s.get(h.Location).wants(t, messages.RefusedAddress)

	obeying := newFetcherFixture(t, specOption(t, "delay: 0s\nallow_addresses: [127.0.0.2/32]"), asking)
	obeying.get(public+"/page").wants(t, messages.RefusedAddress)
	if len(secret.Seen()) > 0 {
		t.Error("the private server was asked")
	}
}
