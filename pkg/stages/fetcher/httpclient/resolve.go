package httpclient

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"seine/internal/base/recent"
	"seine/pkg/messages"
)

// How long an answer of the resolver is cached. The system's resolver does not report the TTL of
// records.
const (
	addressAge   = time.Minute
	noAddressAge = 5 * time.Second
	// maxNames bounds the cached names.
	maxNames = 1 << 15
)

// resolver resolves names to addresses. It has one look-up at a time for a name, and caches the
// results.
type resolver struct {
	lookup  func(ctx context.Context, host string) ([]netip.Addr, error)
	timeout time.Duration
	family  string
	names   recent.Cache[string, *dnsResult]
	flight  singleflight.Group
}

// dnsResult is an immutable answer for a name.
type dnsResult struct {
	addrs []netip.Addr
	err   error
	until time.Time
}

func newResolver(cfg Config) *resolver {
	return &resolver{
		lookup: lookupBy(cfg), timeout: time.Duration(cfg.DialTimeout), names: recent.Cache[string, *dnsResult]{Most: maxNames}, family: cfg.Family,
	}
}

// lookupBy returns a look-up by the system's resolver, or by the operator's servers in turn. A name
// with a dot is fully qualified: with the search list of /etc/resolv.conf a cluster's resolver
// sends five queries instead of one, and a dead link may lead to an internal host.
func lookupBy(cfg Config) func(context.Context, string) ([]netip.Addr, error) {
	r := net.DefaultResolver
	if len(cfg.Resolver) > 0 {
		var turn atomic.Uint32
		r = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, cfg.Resolver[int(turn.Add(1)-1)%len(cfg.Resolver)])
		}}
	}
	network := map[string]string{FamilyAny: "ip", FamilyIPv4: "ip4", FamilyIPv6: "ip6"}[cfg.Family]
	return func(ctx context.Context, host string) ([]netip.Addr, error) {
		if strings.Contains(host, ".") {
			host += "."
		}
		return r.LookupNetIP(ctx, network, host)
	}
}

// loopback are the addresses of all names under localhost, without a query: RFC 6761 section 6.3.
var loopback = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}

func (r *resolver) loopback() []netip.Addr {
	switch r.family {
	case FamilyIPv4:
		return loopback[:1]
	case FamilyIPv6:
		return loopback[1:]
	}
	return loopback
}

// resolve returns the addresses of a host name or of a literal address, at least one.
func (r *resolver) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return r.loopback(), nil
	}
	if a, ok := r.names.Get(host); ok && time.Now().Before(a.until) {
		dnsHit.Inc()
		return a.addrs, a.err
	}
	return r.queryDNS(ctx, host)
}

// queryDNS looks the name up once for all requests that need it. The look-up outlives the request
// that began it.
func (r *resolver) queryDNS(ctx context.Context, host string) ([]netip.Addr, error) {
	dnsMiss.Inc()
	done := r.flight.DoChan(host, func() (any, error) {
		lookup, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.timeout)
		defer cancel()
		a := newDNSResult(r.lookup(lookup, host))
		r.names.Put(host, a)
		return a, nil
	})
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case res := <-done:
		a := res.Val.(*dnsResult)
		return a.addrs, a.err
	}
}

func newDNSResult(addrs []netip.Addr, err error) *dnsResult {
	if err == nil && len(addrs) == 0 {
		err = errors.New("it has no address")
	}
	if err != nil {
		return &dnsResult{err: dnsReason(err), until: time.Now().Add(noAddressAge)}
	}
	for i, a := range addrs {
		addrs[i] = a.Unmap()
	}
	return &dnsResult{addrs: addrs, until: time.Now().Add(addressAge)}
}

// dnsReason turns an error of a resolver into a failure for users.
func dnsReason(err error) error {
	dns, ok := errors.AsType[*net.DNSError](err)
	switch {
	case !ok:
		return Failf(messages.DNSFailure, "the name of the host does not resolve: %v", err)
	case dns.IsTimeout:
		return Failf(messages.DNSFailure, "the name of the host does not resolve: the name server did not answer in time").in(messages.DetailTimeout)
	}
	f := Failf(messages.DNSFailure, "the name of the host does not resolve: %s", dns.Err)
	if dns.IsNotFound {
		f.Detail = messages.DetailNoHost
	}
	return f
}
