package frontier

import (
	"sync"
	"time"
)

// addresses keeps the delay between requests to one IP address, for crawls that
// group by it, over all partitions of the process. A host has the address that
// answered it last; its first request goes by its own delay alone.
type addresses struct {
	since int64 // nothing is known of what was before, Unix ns
	mu    sync.Mutex
	byIP  map[string]*address
}

// address is one IP address.
type address struct {
	inFlight int
	next     int64 // no request before, Unix ns
	tail     int64 // the end of the line of hosts that wait for it
}

// maxAddresses bounds the addresses in memory.
const maxAddresses = 1 << 16

func newAddresses(now int64) *addresses {
	return &addresses{since: now, byIP: make(map[string]*address)}
}

func (a *addresses) of(ip string, delay time.Duration) *address {
	if a.byIP[ip] == nil {
		if len(a.byIP) >= maxAddresses {
			a.forget()
		}
		// It may have answered a moment before this process began.
		a.byIP[ip] = &address{next: a.since + int64(delay)}
	}
	return a.byIP[ip]
}

// forget drops those that nobody waits for.
func (a *addresses) forget() {
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

// slot returns now if a request may go to the address, or else when to ask
// again: each host that waits has a time of its own.
func (a *addresses) slot(ip string, delay time.Duration, now int64) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	ad := a.of(ip, delay)
	if ad.next <= now && (ad.inFlight == 0 || delay == 0) {
		return now
	}
	ad.tail = max(ad.tail, ad.next, now) + max(int64(delay), int64(time.Millisecond))
	return ad.tail
}

// begin notes a request to an address.
func (a *addresses) begin(ip string, delay time.Duration) {
	if ip == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.of(ip, delay).inFlight++
}

// end notes that a request to an address ended by now.
func (a *addresses) end(ip string, delay time.Duration, now int64) {
	if ip == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	ad := a.of(ip, delay)
	ad.inFlight = max(0, ad.inFlight-1)
	ad.next = max(ad.next, now+int64(delay))
}
