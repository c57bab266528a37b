package netguard

import (
	"fmt"
	"net/netip"
)

// RefusedError says that an address lies in a special range that the guard does not allow. It is
// permanent as long as the configuration and the name's DNS records do not change.
type RefusedError struct {
	// Addr is the address as dialled, with its zone if it had one.
	Addr netip.Addr
	// Target is the address that decided: Addr without its zone, or the IPv4
	// address inside an IPv4-mapped, NAT64 or 6to4 Addr.
	Target netip.Addr
	// Range is the special range that holds Target.
	Range Range
}

// Error names the address, the range and the way to allow it.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("refuse to dial %s: %s; %s", e.subject(), e.Range, e.Hint())
}

// Hint returns how an operator can allow the address.
func (e *RefusedError) Hint() string {
	if e.Range.Private {
		return "the spec can allow it: allow_private, or allow_addresses (seine crawl --allow-private)"
	}
	return "the spec can allow it: allow_addresses"
}

func (e *RefusedError) subject() string {
	if e.Target == e.Addr.WithZone("") {
		return e.Addr.String()
	}
	return fmt.Sprintf("%s (reaches %s)", e.Addr, e.Target)
}
