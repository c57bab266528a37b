package fetcher

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// nameServer is a DNS server whose answers change.
type nameServer struct {
	address string
	mu      sync.Mutex
	answers map[string][]string // by name, with its last dot
	asked   int
}

func newNameServer(t *testing.T) *nameServer {
	t.Helper()
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{address: c.LocalAddr().String(), answers: make(map[string][]string)}
	done := make(chan struct{})
	go func() { defer close(done); s.serve(c) }()
	t.Cleanup(func() { _ = c.Close(); <-done })
	return s
}

func (s *nameServer) serve(c net.PacketConn) {
	buf := make([]byte, 512)
	for {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		if reply, err := s.answer(&m); err == nil {
			_, _ = c.WriteTo(reply, from) // who asked may be gone
		}
	}
}

func (s *nameServer) answer(m *dnsmessage.Message) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	q := m.Questions[0]
	m.Response, m.Additionals = true, nil
	h := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1}
	for _, text := range s.answers[q.Name.String()] {
		switch a := netip.MustParseAddr(text); {
		case a.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
		case a.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	if s.answers[q.Name.String()] == nil {
		m.RCode = dnsmessage.RCodeNameError
	}
	return m.Pack()
}

func (s *nameServer) say(name string, addresses ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[name+"."] = addresses
}

// guarded is a stage that may go to 127.0.0.2 and nowhere else on this machine,
// asks a name server of its own, and remembers no name.
func guarded(t *testing.T, s *nameServer) *fetcherFixture {
	t.Helper()
	return newFetcherFixture(t, specOption(t, "robots: ignore\ndelay: 0s\nallow_addresses: [127.0.0.2/32]"),
		func(c *Config, _ *crawlspec.Spec, _ *testweb.Config) { c.Resolver = []string{s.address} })
}

// A page on all addresses of this machine, to see which are dialled.
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

// A name that leads elsewhere when it is looked up again does not lead the crawl
// there: the address that is dialled is the one that was checked.
func TestRebindingIsRefused(t *testing.T) {
	t.Parallel()
	dns := newNameServer(t)
	s := guarded(t, dns)
	port, dialled := everywhere(t)
	url := "http://rebind.test:" + port + "/"
	for _, step := range []struct {
		answer []string
		want   messages.Class
	}{
		{[]string{"127.0.0.2"}, messages.OK},
		{[]string{"127.0.0.1"}, messages.RefusedAddress},
		{[]string{"127.0.0.1", "127.0.0.2"}, messages.OK}, // the one that may be dialled is
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
		dns.say("rebind.test", step.answer...)
		s.client.ways.resolver.names.InvalidateAll()
		s.client.close()
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
	dns.mu.Lock()
	defer dns.mu.Unlock()
	if dns.asked == 0 {
		t.Error("the name server of the flag was not asked")
	}
}

// Neither a redirect of a page nor one of robots.txt leads into the private
// network.
func TestRedirectsIntoThePrivateNetworkAreRefused(t *testing.T) {
	t.Parallel()
	secret := newEcho(t)
	dns := newNameServer(t)
	dns.say("public.test", "127.0.0.2")
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

	s := guarded(t, dns)
	h := s.get(public + "/page")
	h.wants(t, messages.Redirect)
	s.get(h.Location).wants(t, messages.RefusedAddress)

	obeying := newFetcherFixture(t, specOption(t, "delay: 0s\nallow_addresses: [127.0.0.2/32]"),
		func(c *Config, _ *crawlspec.Spec, _ *testweb.Config) { c.Resolver = []string{dns.address} })
	obeying.get(public+"/page").wants(t, messages.RefusedAddress)
	if len(secret.seen) > 0 {
		t.Error("the private server was asked")
	}
}

// However an address is spelt, it is the same address.
func TestOddSpellingsAreRefused(t *testing.T) {
	t.Parallel()
	s := guarded(t, newNameServer(t))
	for _, host := range strings.Fields(`127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 0177.1 017700000001 127.0.0.1.
		0 0.0.0.0 0x0 localhost LOCALHOST localhost. foo.localhost [::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1]
		[::127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b:1::127.0.0.1] [2002:7f00:1::] [2001::1] [fe80::1] [fc00::1] [fd00:ec2::254]
		10.0.0.1 0xa.1 012.1 192.168.0.1 172.16.0.1 100.64.0.1 169.254.169.254 0xa9fea9fe 2852039166 169.254.43518 ①②⑦.⓪.⓪.①
		127。0。0。1 224.0.0.1 255.255.255.255 240.0.0.1 198.18.0.1 192.0.2.1 [2001:db8::1] [ff02::1] [100::1]`) {
		s.get(canonical(t, "http://"+host+":1/")).wants(t, messages.RefusedAddress)
	}
}
