// Package netguard refuses connections to addresses that a crawler must not
// reach: the machine itself, its private networks, the metadata service of the
// cloud it runs in, and everything else that is not public Internet.
//
// A crawler dials names that strangers choose, so a check of the URL is not
// enough: a name may resolve to 127.0.0.1, or to a public address on the first
// look-up and a private one on the second (DNS rebinding). [Guard.Control] runs
// after name resolution and just before connect, on the very address the kernel
// is handed, once for each address a dialer tries.
//
// The guard sees only sockets opened through the dialer that carries it. Behind
// an HTTP or SOCKS proxy it sees the proxy's address, and the proxy must guard.
package netguard

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"
)

// ErrNetwork is returned by [Guard.Control] for a socket that is neither tcp4
// nor tcp6; a crawler opens no other kind.
var ErrNetwork = errors.New("refuse network other than tcp4 and tcp6")

// Guard decides which addresses may be dialled. It is immutable after [New] and
// safe for concurrent use.
type Guard struct {
	allow        []netip.Prefix
	allowPrivate bool
}

// New returns a guard that refuses every special range except those lifted.
//
// An address inside one of the allow prefixes always passes, so a prefix such
// as 169.254.0.0/16 also lifts the metadata addresses inside it. Prefixes are
// compared with the address really reached: an IPv4 prefix also covers its
// IPv4-mapped, NAT64 and 6to4 spellings, and a prefix written over such a
// spelling other than IPv4-mapped lifts nothing. Invalid prefixes are ignored.
//
// allowPrivate lifts the ranges marked [Range.Private]: loopback, private-use,
// shared (CGNAT), link-local and unique-local. It never lifts metadata,
// multicast, broadcast, unspecified or any other range.
func New(allow []netip.Prefix, allowPrivate bool) *Guard {
	g := &Guard{allowPrivate: allowPrivate}
	for _, p := range allow {
		if p.IsValid() {
			g.allow = append(g.allow, unmapPrefix(p))
		}
	}
	return g
}

// Check returns nil if addr may be dialled, otherwise a [*RefusedError]. A zone plays no part in
// the decision.
func (g *Guard) Check(addr netip.Addr) error {
	target := reached(addr.WithZone(""))
	if g.allowed(target) {
		return nil
	}
	r, special := lookup(target)
	if !special || (g.allowPrivate && r.Private) {
		return nil
	}
	return &RefusedError{Addr: addr, Target: target, Range: r}
}

// Control has the signature of [net.Dialer.Control]. It fails closed: an
// address that does not parse is an error. A dialer whose ControlContext is set
// ignores Control, so call this from there instead.
func (g *Guard) Control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%w: %q", ErrNetwork, network)
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("parse dialled address %q: %w", address, err)
	}
	return g.Check(ap.Addr())
}

func (g *Guard) allowed(addr netip.Addr) bool {
	return slices.ContainsFunc(g.allow, func(p netip.Prefix) bool { return p.Contains(addr) })
}
