package serve

import (
	"net/http"

	"seine/internal/serve/problem"
)

// refuseCrossOrigin rejects requests that another site makes a browser send, except GET, which
// changes nothing.
func refuseCrossOrigin(next http.Handler) http.Handler {
	p := http.NewCrossOriginProtection()
	p.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		problem.Write(w, http.StatusForbidden, "another site sent this request by a browser: write from a page of this server, or from a program, which sends no Origin header")
	}))
	return p.Handler(next)
}
