package httpclient

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"seine/internal/base/weburl"
	"seine/internal/testing/nameserver"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// guarded returns a client that may dial 127.0.0.2 and no other address of this machine, and
// queries its own name server.
func guarded(t *testing.T, s *nameserver.Server) *clientFixture {
	t.Helper()
	return newClientFixture(t, func(c *Config, spec *crawlspec.Spec) {
		c.Resolver = []string{s.Address}
		spec.AllowPrivate, spec.AllowAddresses = false, []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}
	})
}

// everywhere serves a page on all addresses of this machine, and records which are dialled.
func everywhere(t *testing.T) (port string, dialled func() []string) {
	t.Helper()
	var mu sync.Mutex
	var seen []string
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		mu.Lock()
		seen = append(seen, local.(*net.TCPAddr).IP.String())
		mu.Unlock()
		w.Header().Set("Content-Type", "text/plain")
	}))
	_ = srv.Listener.Close()
	srv.Listener = l
	srv.Start()
	t.Cleanup(srv.Close)
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, func() []string { mu.Lock(); defer mu.Unlock(); return seen }
}

// A name that resolves to another address in a later look-up does not lead the crawl there: the
// dialled address is the one that was checked.
func TestRebindingIsRefused(t *testing.T) {
	t.Parallel()
	dns := nameserver.New(t)
	s := guarded(t, dns)
	port, dialled := everywhere(t)
	url := "http://rebind.test:" + port + "/"
	for _, step := range []struct {
		answer []string
		want   messages.Class
	}{
		{[]string{"127.0.0.2"}, messages.OK},
		{[]string{"127.0.0.1"}, messages.RefusedAddress},
		{[]string{"127.0.0.1", "127.0.0.2"}, messages.OK}, // the allowed address is dialled
		{[]string{"10.0.0.1"}, messages.RefusedAddress},
		{[]string{"169.254.169.254"}, messages.RefusedAddress},
		{[]string{"::1"}, messages.RefusedAddress},
		{[]string{"::ffff:127.0.0.1"}, messages.RefusedAddress},
		{[]string{"64:ff9b::7f00:1"}, messages.RefusedAddress},
		{[]string{"2002:7f00:1::"}, messages.RefusedAddress},
		{[]string{"fd00::1", "192.168.1.1"}, messages.RefusedAddress},
		{[]string{}, messages.DNSFailure},
		{[]string{"127.0.0.2"}, messages.OK},
	} {
		dns.Say("rebind.test", step.answer...)
		s.pools.resolver.names.Delete("rebind.test")
		s.Close()
		h := s.get(url)
		h.wants(t, step.want)
		if step.want == messages.OK && h.IP != "127.0.0.2" {
			t.Errorf("%v: fetched from %s", step.answer, h.IP)
		}
	}
	for _, ip := range dialled() {
		if ip != "127.0.0.2" {
			t.Errorf("%s was dialled", ip)
		}
	}
	if dns.Asked() == 0 {
		t.Error("the name server of the flag was not asked")
	}
}

// However an address is spelt, it is the same address.
func TestOddSpellingsAreRefused(t *testing.T) {
	t.Parallel()
	s := guarded(t, nameserver.New(t))
	for _, host := range strings.Fields(`127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 0177.1 017700000001 127.0.0.1.
		0 0.0.0.0 0x0 localhost LOCALHOST localhost. foo.localhost [::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1]
		[::127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b:1::127.0.0.1] [2002:7f00:1::] [2001::1] [fe80::1] [fc00::1] [fd00:ec2::254]
		10.0.0.1 0xa.1 012.1 192.168.0.1 172.16.0.1 100.64.0.1 169.254.169.254 0xa9fea9fe 2852039166 169.254.43518 ①②⑦.⓪.⓪.①
		127。0。0。1 224.0.0.1 255.255.255.255 240.0.0.1 198.18.0.1 192.0.2.1 [2001:db8::1] [ff02::1] [100::1]`) {
		url, err := weburl.Canonicalize("http://" + host + ":1/")
		if err != nil {
			t.Fatal(err)
		}
		s.get(url).wants(t, messages.RefusedAddress)
	}
}
