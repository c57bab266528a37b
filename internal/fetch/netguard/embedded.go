package netguard

import "net/netip"

// Prefixes whose addresses carry the IPv4 address that packets reach.
var (
	// nat64 is the well-known translation prefix, RFC 6052 section 2.1; hosts on
	// IPv6-only networks reach all of IPv4 through it.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
	// sixToFour carries the address of the 6to4 router, RFC 3056 section 2.
	sixToFour = netip.MustParsePrefix("2002::/16")
)

// mappedBits is the length of ::ffff:0:0/96, RFC 4291 section 2.5.5.2.
const mappedBits = 96

// reached returns the address that packets to addr reach, as far as addr itself shows: the IPv4
// address inside an IPv4-mapped, NAT64 or 6to4 address, else addr. IPv4-compatible and Teredo
// addresses are not unwrapped, as they are always refused.
func reached(addr netip.Addr) netip.Addr {
	if !addr.Is6() || addr.Is4In6() {
		return addr.Unmap()
	}
	b := addr.As16()
	switch {
	case nat64.Contains(addr):
		return netip.AddrFrom4([4]byte(b[12:16]))
	case sixToFour.Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return addr
}

// unmapPrefix turns a prefix within ::ffff:0:0/96 into the IPv4 prefix it means.
func unmapPrefix(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= mappedBits {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mappedBits)
	}
	return p
}
