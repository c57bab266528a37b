package state

import (
	"sync"
	"time"
)

// IPLimiter enforces the delay between requests to one IP address for crawls that group by IP, over
// all partitions of the process. A host's address is the one that answered last; its first request
// is subject to its own delay only. Times are those of the process, as each partition has its own.
type IPLimiter struct {
	now   func() int64
	mu    sync.Mutex
	since int64 // earlier requests may be unknown
	byIP  map[string]*ipState
}

// ipState is the state of one IP address.
type ipState struct {
	inFlight int
	next     int64 // earliest time of the next request
	tail     int64 // end of the line of hosts that wait for the address
}

// maxAddresses limits the addresses in memory.
const maxAddresses = 1 << 16

// NewIPLimiter returns a limiter that knows no addresses. now must be a monotonic clock in
// nanoseconds.
func NewIPLimiter(now func() int64) *IPLimiter {
	return &IPLimiter{now: now, since: now(), byIP: make(map[string]*ipState)}
}

// arrived notes that a partition came to the process: recent requests of its hosts are unknown.
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

// forget drops addresses without in-flight requests whose last delay ended a minute or more before
// the latest one.
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

// slot returns 0 if a request may go to the address. Otherwise it returns how long to wait before
// the next try; each waiting host gets a different time.
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

// begin notes a request to an address. Each must be followed by end, whatever its outcome.
func (a *IPLimiter) begin(ip string) { a.change(ip, func(ad *ipState) { ad.inFlight++ }) }

// end notes that a request has ended, or belongs to another process now.
func (a *IPLimiter) end(ip string) {
	a.change(ip, func(ad *ipState) { ad.inFlight = max(0, ad.inFlight-1) })
}

// rest delays the next request to an address, counted from now.
func (a *IPLimiter) rest(ip string, delay time.Duration) {
	a.change(ip, func(ad *ipState) { ad.next = max(ad.next, a.now()+int64(delay)) })
}

// change applies do to the state of an address. It does nothing for "", the address of a host that
// is not resolved yet.
func (a *IPLimiter) change(ip string, do func(*ipState)) {
	if ip == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	do(a.of(ip))
}
