package serve

import (
	"math"
	"net/http"
	"net/netip"

	"golang.org/x/time/rate"

	"seine/internal/base/recent"
	"seine/internal/serve/caller"
	"seine/internal/serve/problem"
	"seine/internal/serve/turns"
)

// Limits of in-flight requests, including event streams. Each may hold a body and a response in
// memory.
const (
	maxInFlight           = 64 // per caller
	maxAllInFlight        = 1024
	maxUnknownInFlight    = 8 // per address without a token
	maxAllUnknownInFlight = 32
)

// limitCallers limits the rate and the concurrency of each caller's requests, so that a loop of one
// caller does not block others.
func (o *Options) limitCallers(next http.Handler) http.Handler {
	type limits struct {
		rates    recent.Cache[string, *rate.Limiter]
		inFlight *turns.Turns
	}
	callers := limits{inFlight: turns.New(maxInFlight, maxAllInFlight, 0)}
	addresses := limits{inFlight: turns.New(maxUnknownInFlight, maxAllUnknownInFlight, 0)} // separate, so that many addresses evict no caller
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, l := caller.Of(r.Context()).Name, &callers
		if key == "" {
			key, l = clientOf(r.RemoteAddr), &addresses
		}
		limiter, ok := l.rates.Get(key)
		if !ok {
			limiter = rate.NewLimiter(rate.Limit(o.Rate), max(1, int(math.Ceil(o.Rate))))
			l.rates.Put(key, limiter)
		}
		if !limiter.Allow() {
			tooMany(w, "too many requests of this caller: wait a second (--rate of the server sets the limit)")
			return
		}
		end := l.inFlight.Acquire(r.Context(), key)
		if end == nil {
			tooMany(w, "too many requests of this caller at a time: wait for the answers to some")
			return
		}
		defer end()
		next.ServeHTTP(w, r)
	})
}

func tooMany(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", "1")
	problem.Write(w, http.StatusTooManyRequests, why)
}

// known reports whether the caller of a request is authenticated.
func known(r *http.Request) bool { return caller.Of(r.Context()).Name != "" }

// clientOf returns the IP address of HOST:PORT. For IPv6 it returns the /64 network, because one
// client has all its addresses.
func clientOf(address string) string {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return address
	}
	ip := a.Addr().Unmap()
	if ip.Is6() {
		return netip.PrefixFrom(ip.WithZone(""), 64).Masked().String()
	}
	return ip.String()
}
