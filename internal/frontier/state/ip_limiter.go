package state

import (
	"sync"
	"time"
)

// IPLimiter keeps the delay between requests to one IP address, for crawls that
// group by it, over all partitions of the process. A host has the address that
// answered it last; its first request goes by its own delay alone. Times are those
// of the process, as partitions have each their own.
type IPLimiter struct {
	now   func() int64
	mu    sync.Mutex
	since int64 // what was asked before is not all known
	byIP  map[string]*ipState
}

// ipState is one IP address.
type ipState struct {
	inFlight int
	next     int64 // no request before
	tail     int64 // the end of the line of hosts that wait for it
}

// maxAddresses bounds the addresses in memory.
const maxAddresses = 1 << 16

// NewIPLimiter returns an empty limiter. The clock is monotonic, in nanoseconds.
func NewIPLimiter(now func() int64) *IPLimiter {
	return &IPLimiter{now: now, since: now(), byIP: make(map[string]*ipState)}
}

// arrived notes that a partition came to the process: what its hosts were asked a
// moment before is not known.
func (a *IPLimiter) arrived() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.since = a.now()
}

func (a *IPLimiter) of(ip string) *ipState {
	if a.byIP[ip] == nil {
		if len(a.byIP) >= maxAddresses {
			a.forget()
		}
		a.byIP[ip] = &ipState{}
	}
	return a.byIP[ip]
}

// forget drops addresses that no host waits for.
func (a *IPLimiter) forget() {
	latest := int64(0)
	for _, ad := range a.byIP {
		latest = max(latest, ad.next, ad.tail)
	}
	for ip, ad := range a.byIP {
		if ad.inFlight == 0 && max(ad.next, ad.tail) < latest-int64(time.Minute) {
			delete(a.byIP, ip)
		}
	}
}

// slot returns 0 if a request may go to the address, or else how long to wait before
// it tries again: each host that waits has another time.
func (a *IPLimiter) slot(ip string, delay time.Duration) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, ad := a.now(), a.of(ip)
	next := max(ad.next, a.since+int64(delay))
	if next <= now && (ad.inFlight == 0 || delay == 0) {
		return 0
	}
	ad.tail = max(ad.tail, next, now) + max(int64(delay), int64(time.Millisecond))
	return time.Duration(ad.tail - now)
}

// begin notes a request to an address. Each is to be given back with end, whatever
// becomes of it.
func (a *IPLimiter) begin(ip string) { a.change(ip, func(ad *ipState) { ad.inFlight++ }) }

// end gives a request back: it has ended, or is another process's now.
func (a *IPLimiter) end(ip string) {
	a.change(ip, func(ad *ipState) { ad.inFlight = max(0, ad.inFlight-1) })
}

// rest lets an address rest from now on.
func (a *IPLimiter) rest(ip string, delay time.Duration) {
	a.change(ip, func(ad *ipState) { ad.next = max(ad.next, a.now()+int64(delay)) })
}

// change changes what is known of an address, unless it is "", as that of a host that was not resolved yet.
func (a *IPLimiter) change(ip string, do func(*ipState)) {
	if ip == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	do(a.of(ip))
}
