package serve

import (
	"math"
	"net"
	"net/http"

	"golang.org/x/time/rate"

	"seine/internal/serve/caller"
	"seine/internal/serve/problem"
	"seine/pkg/stages"
)

// Requests in flight at a time, streams of events among them. Each may hold a body and an answer in memory.
const (
	maxInFlight        = 64 // of one caller
	maxUnknownInFlight = 32 // of all clients without a token together
)

// share is the part of the server that one caller gets.
type share struct {
	rate  *rate.Limiter
	slots chan struct{}
}

// limitCallers bounds how many requests each caller sends, a second and at a time: a loop of one must not keep
// others out.
func (o *Options) limitCallers(next http.Handler) http.Handler {
	var callers, addresses stages.Recent[string, share] // of late; many addresses do not evict callers
	unknown := make(chan struct{}, maxUnknownInFlight)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, recent := callerKey(r), &addresses
		if known(r) {
			recent = &callers
		}
		s, ok := recent.Get(key)
		if !ok {
			s = share{rate.NewLimiter(rate.Limit(o.Rate), max(1, int(math.Ceil(o.Rate)))), unknown}
			if known(r) {
				s.slots = make(chan struct{}, maxInFlight)
			}
			recent.Put(key, s)
		}
		if !s.rate.Allow() {
			tooMany(w, "too many requests of this caller: wait a second (--rate of the server sets the limit)")
			return
		}
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
			next.ServeHTTP(w, r)
		default:
			tooMany(w, "too many requests of this caller at a time: wait for the answers to some")
		}
	})
}

func tooMany(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", "1")
	problem.Write(w, http.StatusTooManyRequests, why)
}

// known reports whether a request is of a caller that was authenticated.
func known(r *http.Request) bool { return caller.Of(r.Context()).Name != "" }

// callerKey is what is limited: a caller wherever it is; one without a name by its address.
func callerKey(r *http.Request) string {
	if c := caller.Of(r.Context()); c.Name != "" {
		return c.Name
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return "address " + host
}
