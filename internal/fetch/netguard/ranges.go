package netguard

import (
	"fmt"
	"net/netip"
)

// Range is a block of addresses that is not public Internet.
type Range struct {
	Prefix netip.Prefix
	// Name says what the block is for, in the words of its registry.
	Name string
	// Source is the document that sets the block aside.
	Source string
	// Private reports whether allowPrivate lifts the range.
	Private bool
}

// String returns the name, prefix and source, as in "loopback (127.0.0.0/8, RFC 1122)".
func (r Range) String() string {
	if !r.Prefix.IsValid() {
		return r.Name
	}
	return fmt.Sprintf("%s (%s, %s)", r.Name, r.Prefix, r.Source)
}

// globalUnicast is the only IPv6 block from which IANA assigns public addresses; addresses outside
// are refused even if no table lists them.
var globalUnicast = netip.MustParsePrefix("2000::/3")

var (
	invalidAddress   = Range{Name: "invalid address"}
	notGlobalUnicast = Range{
		Prefix: netip.MustParsePrefix("::/0"),
		Name:   "outside global unicast 2000::/3",
		Source: "IANA IPv6 address space",
	}
)

// lookup returns the first range holding addr, which must be free of zone and
// wrapping; the tables list narrow ranges ahead of the wide ones around them.
func lookup(addr netip.Addr) (Range, bool) {
	if !addr.IsValid() {
		return invalidAddress, true
	}
	table := ranges6
	if addr.Is4() {
		table = ranges4
	}
	for _, r := range table {
		if r.Prefix.Contains(addr) {
			return r, true
		}
	}
	if addr.Is6() && !globalUnicast.Contains(addr) {
		return notGlobalUnicast, true
	}
	return Range{}, false
}

// ranges4 holds the addresses of cloud metadata services, then the IANA IPv4
// Special-Purpose Address Registry (RFC 6890 as updated by RFC 8190) and the
// multicast block. Registry entries that are globally reachable (AS112, AMT,
// the anycast addresses in 192.0.0.0/24) are refused too: they are network
// infrastructure and host no pages. A test compares the table with
// code.dny.dev/ssrf, which is generated from the registries.
var ranges4 = []Range{
	metadata("169.254.169.254/32", "AWS, Azure, Google Cloud, Oracle, OpenStack"),
	metadata("169.254.170.2/32", "AWS ECS credentials"),
	metadata("169.254.170.23/32", "AWS EKS Pod Identity"),
	metadata("169.254.42.42/32", "Scaleway"),
	metadata("169.254.0.23/32", "Tencent Cloud"),
	metadata("169.254.10.10/32", "Tencent Cloud"),
	metadata("100.100.100.200/32", "Alibaba Cloud"),
	metadata("168.63.129.16/32", "Azure WireServer"), // a public address, served inside Azure only
	metadata("192.0.0.192/32", "Oracle Cloud Classic"),

	special("0.0.0.0/8", "unspecified, this network", "RFC 791"),
	private("10.0.0.0/8", "private-use", "RFC 1918"),
	private("100.64.0.0/10", "shared address space, CGNAT", "RFC 6598"),
	private("127.0.0.0/8", "loopback", "RFC 1122"),
	private("169.254.0.0/16", "link-local", "RFC 3927"),
	private("172.16.0.0/12", "private-use", "RFC 1918"),
	special("192.0.0.0/24", "IETF protocol assignments", "RFC 6890"),
	special("192.0.2.0/24", "documentation, TEST-NET-1", "RFC 5737"),
	special("192.31.196.0/24", "AS112", "RFC 7535"),
	special("192.52.193.0/24", "AMT", "RFC 7450"),
	special("192.88.99.0/24", "6to4 relay anycast, deprecated", "RFC 7526"),
	private("192.168.0.0/16", "private-use", "RFC 1918"),
	special("192.175.48.0/24", "AS112 direct delegation", "RFC 7534"),
	special("198.18.0.0/15", "benchmarking", "RFC 2544"),
	special("198.51.100.0/24", "documentation, TEST-NET-2", "RFC 5737"),
	special("203.0.113.0/24", "documentation, TEST-NET-3", "RFC 5737"),
	special("224.0.0.0/4", "multicast", "RFC 5771"),
	special("255.255.255.255/32", "limited broadcast", "RFC 919"),
	special("240.0.0.0/4", "reserved", "RFC 1112"),
}

// ranges6 is the table for IPv6: metadata, then the IANA IPv6 Special-Purpose Address Registry, and
// the blocks that RFC 4291 sets aside. IPv4-mapped, NAT64 and 6to4 addresses are missing because
// the IPv4 address they carry is checked instead, see reached.
var ranges6 = []Range{
	metadata("fd00:ec2::/32", "AWS"),
	metadata("fd20:ce::254/128", "Google Cloud"),
	metadata("fd00:c1::a9fe:a9fe/128", "Oracle Cloud"),
	metadata("fd00:42::42/128", "Scaleway"),
	metadata("fd00:a9fe:a9fe::1/128", "Akamai, Linode"),
	metadata("fd00:100::100:200/128", "Alibaba Cloud"),
	metadata("fe80::a9fe:a9fe/128", "OpenStack, Linode"),

	special("::/128", "unspecified", "RFC 4291"),
	private("::1/128", "loopback", "RFC 4291"),
	special("::/96", "IPv4-compatible, deprecated", "RFC 4291"),
	special("64:ff9b:1::/48", "NAT64 local use", "RFC 8215"),
	special("100::/64", "discard-only", "RFC 6666"),
	special("100:0:0:1::/64", "dummy prefix", "RFC 9780"),
	special("2001::/32", "Teredo", "RFC 4380"),
	special("2001:2::/48", "benchmarking", "RFC 5180"),
	special("2001:3::/32", "AMT", "RFC 7450"),
	special("2001:4:112::/48", "AS112", "RFC 7535"),
	special("2001:10::/28", "ORCHID, deprecated", "RFC 4843"),
	special("2001:20::/28", "ORCHIDv2", "RFC 7343"),
	special("2001:30::/28", "drone remote ID", "RFC 9374"),
	special("2001::/23", "IETF protocol assignments", "RFC 2928"),
	special("2001:db8::/32", "documentation", "RFC 3849"),
	special("2620:4f:8000::/48", "AS112 direct delegation", "RFC 7534"),
	special("3fff::/20", "documentation", "RFC 9637"),
	special("5f00::/16", "SRv6 segment identifiers", "RFC 9602"),
	private("fc00::/7", "unique-local", "RFC 4193"),
	private("fe80::/10", "link-local", "RFC 4291"),
	special("fec0::/10", "site-local, deprecated", "RFC 3879"),
	special("ff00::/8", "multicast", "RFC 4291"),
}

func special(prefix, name, source string) Range {
	return Range{Prefix: netip.MustParsePrefix(prefix), Name: name, Source: source}
}

func private(prefix, name, source string) Range {
	r := special(prefix, name, source)
	r.Private = true
	return r
}

func metadata(prefix, provider string) Range {
	return special(prefix, "cloud metadata", provider)
}
