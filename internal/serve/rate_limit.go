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

// limitCallers bounds how many requests each caller sends: a loop of one must not keep others out.
func (o *Options) limitCallers(next http.Handler) http.Handler {
	var recent stages.Recent[string, *rate.Limiter] // of the callers of late
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := callerKey(r)
		l, ok := recent.Get(key)
		if !ok {
			l = rate.NewLimiter(rate.Limit(o.Rate), max(1, int(math.Ceil(o.Rate))))
			recent.Put(key, l)
		}
		if !l.Allow() {
			w.Header().Set("Retry-After", "1")
			problem.Write(w, http.StatusTooManyRequests, "too many requests of this caller: wait a second (--rate of the server sets the limit)")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// callerKey is what is limited: a caller wherever it is; one without a name by its address.
func callerKey(r *http.Request) string {
	if c := caller.Of(r.Context()); c.Name != "" {
		return c.Name
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return "address " + host
}
