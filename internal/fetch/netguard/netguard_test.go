package netguard

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"code.dny.dev/ssrf"
)

// outside marks a neighbour that belongs to no special range.
const outside = ""

// blocks lists every special range with its first and last address, and the
// addresses just before and after with the range those fall in.
var blocks = []struct {
	name, prefix       string
	first, last        string
	before, beforeName string
	after, afterName   string
	private            bool
}{
	{"this network", "0.0.0.0/8", "0.0.0.0", "0.255.255.255", "", "", "1.0.0.0", outside, false},
	{"private-use", "10.0.0.0/8", "10.0.0.0", "10.255.255.255", "9.255.255.255", outside, "11.0.0.0", outside, true},
	{"shared", "100.64.0.0/10", "100.64.0.0", "100.127.255.255", "100.63.255.255", outside, "100.128.0.0", outside, true},
	{"loopback", "127.0.0.0/8", "127.0.0.0", "127.255.255.255", "126.255.255.255", outside, "128.0.0.0", outside, true},
	{"link-local", "169.254.0.0/16", "169.254.0.0", "169.254.255.255", "169.253.255.255", outside, "169.255.0.0", outside, true},
	{"metadata", "169.254.169.254/32", "169.254.169.254", "169.254.169.254", "169.254.169.253", "link-local", "169.254.169.255", "link-local", false},
	{"metadata", "168.63.129.16/32", "168.63.129.16", "168.63.129.16", "168.63.129.15", outside, "168.63.129.17", outside, false},
	{"metadata", "100.100.100.200/32", "100.100.100.200", "100.100.100.200", "100.100.100.199", "shared", "100.100.100.201", "shared", false},
	{"metadata", "192.0.0.192/32", "192.0.0.192", "192.0.0.192", "192.0.0.191", "IETF", "192.0.0.193", "IETF", false},
	{"private-use", "172.16.0.0/12", "172.16.0.0", "172.31.255.255", "172.15.255.255", outside, "172.32.0.0", outside, true},
	{"IETF", "192.0.0.0/24", "192.0.0.0", "192.0.0.255", "191.255.255.255", outside, "192.0.1.0", outside, false},
	{"TEST-NET-1", "192.0.2.0/24", "192.0.2.0", "192.0.2.255", "192.0.1.255", outside, "192.0.3.0", outside, false},
	{"AS112", "192.31.196.0/24", "192.31.196.0", "192.31.196.255", "192.31.195.255", outside, "192.31.197.0", outside, false},
	{"AMT", "192.52.193.0/24", "192.52.193.0", "192.52.193.255", "192.52.192.255", outside, "192.52.194.0", outside, false},
	{"6to4 relay", "192.88.99.0/24", "192.88.99.0", "192.88.99.255", "192.88.98.255", outside, "192.88.100.0", outside, false},
	{"private-use", "192.168.0.0/16", "192.168.0.0", "192.168.255.255", "192.167.255.255", outside, "192.169.0.0", outside, true},
	{"AS112", "192.175.48.0/24", "192.175.48.0", "192.175.48.255", "192.175.47.255", outside, "192.175.49.0", outside, false},
	{"benchmarking", "198.18.0.0/15", "198.18.0.0", "198.19.255.255", "198.17.255.255", outside, "198.20.0.0", outside, false},
	{"TEST-NET-2", "198.51.100.0/24", "198.51.100.0", "198.51.100.255", "198.51.99.255", outside, "198.51.101.0", outside, false},
	{"TEST-NET-3", "203.0.113.0/24", "203.0.113.0", "203.0.113.255", "203.0.112.255", outside, "203.0.114.0", outside, false},
	{"multicast", "224.0.0.0/4", "224.0.0.0", "239.255.255.255", "223.255.255.255", outside, "240.0.0.0", "reserved", false},
	{"reserved", "240.0.0.0/4", "240.0.0.0", "255.255.255.254", "239.255.255.255", "multicast", "255.255.255.255", "broadcast", false},
	{"broadcast", "255.255.255.255/32", "255.255.255.255", "255.255.255.255", "255.255.255.254", "reserved", "", "", false},

	{"unspecified", "::/128", "::", "::", "", "", "::1", "loopback", false},
	{"loopback", "::1/128", "::1", "::1", "::", "unspecified", "::2", "IPv4-compatible", true},
	{"IPv4-compatible", "::/96", "::2", "::ffff:ffff", "::1", "loopback", "::1:0:0", "global unicast", false},
	{"NAT64 local", "64:ff9b:1::/48", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "64:ff9b:0:ffff:ffff:ffff:ffff:ffff", "global unicast", "64:ff9b:2::", "global unicast", false},
	{"discard", "100::/64", "100::", "100::ffff:ffff:ffff:ffff", "ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "global unicast", "100:0:0:1::", "dummy", false},
	{"dummy", "100:0:0:1::/64", "100:0:0:1::", "100::1:ffff:ffff:ffff:ffff", "100::ffff:ffff:ffff:ffff", "discard", "100:0:0:2::", "global unicast", false},
	{"global unicast", "::/0", "1000::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "", "", "2000::", outside, false},
	{"Teredo", "2001::/32", "2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", outside, "2001:1::", "IETF", false},
	{"benchmarking", "2001:2::/48", "2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", "2001:1:ffff:ffff:ffff:ffff:ffff:ffff", "IETF", "2001:2:1::", "IETF", false},
	{"AMT", "2001:3::/32", "2001:3::", "2001:3:ffff:ffff:ffff:ffff:ffff:ffff", "2001:2:ffff:ffff:ffff:ffff:ffff:ffff", "IETF", "2001:4::", "IETF", false},
	{"AS112", "2001:4:112::/48", "2001:4:112::", "2001:4:112:ffff:ffff:ffff:ffff:ffff", "2001:4:111:ffff:ffff:ffff:ffff:ffff", "IETF", "2001:4:113::", "IETF", false},
	{"ORCHID,", "2001:10::/28", "2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", "2001:f:ffff:ffff:ffff:ffff:ffff:ffff", "IETF", "2001:20::", "ORCHIDv2", false},
	{"ORCHIDv2", "2001:20::/28", "2001:20::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", "ORCHID,", "2001:30::", "drone", false},
	{"drone", "2001:30::/28", "2001:30::", "2001:3f:ffff:ffff:ffff:ffff:ffff:ffff", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", "ORCHIDv2", "2001:40::", "IETF", false},
	{"IETF", "2001::/23", "2001:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "Teredo", "2001:200::", outside, false},
	{"documentation", "2001:db8::/32", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", outside, "2001:db9::", outside, false},
	{"AS112", "2620:4f:8000::/48", "2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", "2620:4f:7fff:ffff:ffff:ffff:ffff:ffff", outside, "2620:4f:8001::", outside, false},
	{"documentation", "3fff::/20", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", outside, "3fff:1000::", outside, false},
	{"global unicast", "::/0", "4000::", "5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", outside, "5f00::", "SRv6", false},
	{"SRv6", "5f00::/16", "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "global unicast", "5f01::", "global unicast", false},
	{"unique-local", "fc00::/7", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "global unicast", "fe00::", "global unicast", true},
	{"metadata", "fd00:ec2::/32", "fd00:ec2::", "fd00:ec2:ffff:ffff:ffff:ffff:ffff:ffff", "fd00:ec1:ffff:ffff:ffff:ffff:ffff:ffff", "unique-local", "fd00:ec3::", "unique-local", false},
	{"metadata", "fd20:ce::254/128", "fd20:ce::254", "fd20:ce::254", "fd20:ce::253", "unique-local", "fd20:ce::255", "unique-local", false},
	{"metadata", "fe80::a9fe:a9fe/128", "fe80::a9fe:a9fe", "fe80::a9fe:a9fe", "fe80::a9fe:a9fd", "link-local", "fe80::a9fe:a9ff", "link-local", false},
	{"link-local", "fe80::/10", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "global unicast", "fec0::", "site-local", true},
	{"site-local", "fec0::/10", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "link-local", "ff00::", "multicast", false},
	{"multicast", "ff00::/8", "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "site-local", "", "", false},
}

func TestSpecialRanges(t *testing.T) {
	for _, b := range blocks {
		t.Run(b.prefix+" "+b.name, func(t *testing.T) {
			wantRange(t, b.first, b.name)
			wantRange(t, b.last, b.name)
			wantRange(t, b.before, b.beforeName)
			wantRange(t, b.after, b.afterName)
			wantLifted(t, b.first, b.private)
			wantLifted(t, b.last, b.private)
			wantAllowedBy(t, b.first, b.prefix)
			wantAllowedBy(t, b.last, b.prefix)
		})
	}
}

func TestEveryTableEntryHasACase(t *testing.T) {
	tested := map[netip.Prefix]bool{}
	for _, b := range blocks {
		tested[netip.MustParsePrefix(b.prefix)] = true
	}
	for _, r := range append(append([]Range{}, ranges4...), ranges6...) {
		if !tested[r.Prefix] && r.Name != "cloud metadata" {
			t.Errorf("%s has no boundary case", r)
		}
		first, _ := lookup(r.Prefix.Addr())
		last, _ := lookup(lastOf(r.Prefix))
		if first != r && last != r {
			t.Errorf("%s is hidden by %s and %s", r, first, last)
		}
	}
}

func TestMetadataIsNeverPrivate(t *testing.T) {
	for _, addr := range []string{
		"169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.42.42", "169.254.0.23",
		"169.254.10.10", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254",
		"fd00:ec2::23", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42", "fd00:a9fe:a9fe::1",
		"fd00:100::100:200", "fe80::a9fe:a9fe%eth0", "::ffff:169.254.169.254",
		"64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1",
	} {
		wantRange(t, addr, "cloud metadata")
		wantLifted(t, addr, false)
	}
}

func TestEmbeddedIPv4(t *testing.T) {
	tests := []struct{ addr, name string }{
		{"::ffff:127.0.0.1", "loopback"},
		{"::ffff:10.1.2.3", "private-use"},
		{"::ffff:93.184.216.34", outside},
		{"64:ff9b::", "unspecified"},
		{"64:ff9b::127.0.0.1", "loopback"},
		{"64:ff9b::192.168.0.1", "private-use"},
		{"64:ff9b::93.184.216.34", outside},
		{"64:ff9b::255.255.255.255", "broadcast"},
		{"64:ff9b::1:0:0", "global unicast"},
		{"2002::", "unspecified"},
		{"2002:7f00:1::1", "loopback"},
		{"2002:c0a8:1::1", "private-use"},
		{"2002:5db8:d822::1", outside},
		{"2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "broadcast"},
		{"2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", outside},
		{"2003::", outside},
		{"::127.0.0.1", "IPv4-compatible"},
		{"::93.184.216.34", "IPv4-compatible"},
		{"::ffff:0:127.0.0.1", "global unicast"},
		{"fe80::1%eth0", "link-local"},
		{"::1%lo", "loopback"},
	}
	for _, tt := range tests {
		wantRange(t, tt.addr, tt.name)
	}
}

func TestPublicAddressesPass(t *testing.T) {
	for _, addr := range []string{"8.8.8.8", "93.184.216.34", "2606:4700::1111", "2a00:1450:4001::1", "2001:4860::8888"} {
		wantRange(t, addr, outside)
	}
}

// TestAgainstGeneratedRegistry keeps the table in step with a list generated
// from the IANA registries: upgrading the module fails here when IANA adds a
// block. 6to4 is left out: the module refuses it, this guard unwraps it.
func TestAgainstGeneratedRegistry(t *testing.T) {
	denied := append(append([]netip.Prefix{}, ssrf.IPv4DeniedPrefixes...), ssrf.IPv6DeniedPrefixes...)
	for _, p := range denied {
		if p == sixToFour {
			continue
		}
		for _, addr := range []netip.Addr{p.Addr(), lastOf(p)} {
			if New(nil, false).Check(addr) == nil {
				t.Errorf("Check(%s) passes, but %s is in the registry", addr, p)
			}
		}
	}
}

func TestAllowedPrefixes(t *testing.T) {
	tests := []struct {
		allow, addr string
		pass        bool
	}{
		{"10.1.0.0/16", "10.1.2.3", true},
		{"10.1.0.0/16", "10.2.0.0", false},
		{"10.1.2.3/8", "10.9.9.9", true},
		{"10.1.0.0/16", "::ffff:10.1.2.3", true},
		{"10.1.0.0/16", "64:ff9b::10.1.2.3", true},
		{"::ffff:10.1.0.0/112", "10.1.2.3", true},
		{"::ffff:10.1.0.0/112", "10.2.0.0", false},
		{"64:ff9b::/96", "64:ff9b::10.1.2.3", false},
		{"fe80::/10", "fe80::1%eth0", true},
		{"169.254.169.254/32", "169.254.169.254", true},
		{"169.254.169.254/32", "169.254.169.253", false},
		{"224.0.0.0/4", "224.0.0.1", true},
		{"::/0", "127.0.0.1", false},
		{"0.0.0.0/0", "127.0.0.1", true},
	}
	for _, tt := range tests {
		err := New([]netip.Prefix{netip.MustParsePrefix(tt.allow)}, false).Check(netip.MustParseAddr(tt.addr))
		if (err == nil) != tt.pass {
			t.Errorf("allow %s: Check(%s) = %v, want pass %v", tt.allow, tt.addr, err, tt.pass)
		}
	}
}

func TestInvalidInputFailsClosed(t *testing.T) {
	g := New([]netip.Prefix{{}, netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}, true)
	if err := g.Check(netip.Addr{}); err == nil || !strings.Contains(err.Error(), "invalid address") {
		t.Errorf("Check of the zero Addr = %v", err)
	}
}

func TestRefusedErrorText(t *testing.T) {
	tests := []struct{ addr, want string }{
		{"127.0.0.1", "refuse to dial 127.0.0.1: loopback (127.0.0.0/8, RFC 1122); the spec can allow it: allow_private, or allow_addresses (seine crawl --allow-private)"},
		{"fe80::1%eth0", "refuse to dial fe80::1%eth0: link-local (fe80::/10, RFC 4291); the spec can allow it: allow_private, or allow_addresses (seine crawl --allow-private)"},
		{"64:ff9b::7f00:1", "refuse to dial 64:ff9b::7f00:1 (reaches 127.0.0.1): loopback (127.0.0.0/8, RFC 1122); the spec can allow it: allow_private, or allow_addresses (seine crawl --allow-private)"},
		{"224.0.0.1", "refuse to dial 224.0.0.1: multicast (224.0.0.0/4, RFC 5771); the spec can allow it: allow_addresses"},
	}
	for _, tt := range tests {
		if got := refusal(t, tt.addr).Error(); got != tt.want {
			t.Errorf("error for %s\n got %s\nwant %s", tt.addr, got, tt.want)
		}
	}
}

func wantRange(t *testing.T, addr, name string) {
	t.Helper()
	if addr == "" {
		return
	}
	err := New(nil, false).Check(netip.MustParseAddr(addr))
	var refused *RefusedError
	switch {
	case name == outside && err != nil:
		t.Errorf("Check(%s) = %v, want pass", addr, err)
	case name != outside && !errors.As(err, &refused):
		t.Errorf("Check(%s) = %v, want refusal as %s", addr, err, name)
	case name != outside && !strings.Contains(refused.Range.Name, name):
		t.Errorf("Check(%s) refused as %s, want %s", addr, refused.Range, name)
	}
}

func wantLifted(t *testing.T, addr string, lifted bool) {
	t.Helper()
	if err := New(nil, true).Check(netip.MustParseAddr(addr)); (err == nil) != lifted {
		t.Errorf("allowPrivate: Check(%s) = %v, want lifted %v", addr, err, lifted)
	}
}

func wantAllowedBy(t *testing.T, addr, prefix string) {
	t.Helper()
	g := New([]netip.Prefix{netip.MustParsePrefix(prefix)}, false)
	if err := g.Check(netip.MustParseAddr(addr)); err != nil {
		t.Errorf("allow %s: Check(%s) = %v", prefix, addr, err)
	}
}

func refusal(t *testing.T, addr string) *RefusedError {
	t.Helper()
	var refused *RefusedError
	if err := New(nil, false).Check(netip.MustParseAddr(addr)); !errors.As(err, &refused) {
		t.Fatalf("Check(%s) = %v, want *RefusedError", addr, err)
	}
	return refused
}

// lastOf returns the highest address of p.
func lastOf(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	last, _ := netip.AddrFromSlice(b)
	return last
}

func BenchmarkCheck(b *testing.B) {
	for _, addr := range []string{"93.184.216.34", "2606:4700::1111"} {
		b.Run(addr, func(b *testing.B) {
			g, a := New(nil, false), netip.MustParseAddr(addr)
			b.ReportAllocs()
			for b.Loop() {
				if err := g.Check(a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
