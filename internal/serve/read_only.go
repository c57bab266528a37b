package serve

import (
	"net/http"

	"seine/internal/serve/problem"
)

// isSafe reports whether a request has a method that changes nothing (RFC 9110 9.2.1).
func isSafe(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
}

// readOnly rejects changes on a read-only server. It rejects every request other than GET unless it
// is known to be harmless, so that it cannot miss one.
func (o *Options) readOnly(next http.Handler) http.Handler {
	if !o.ReadOnly {
		return next
	}
	harmless := matcher(append([]string{"POST /login", "POST /logout"}, o.Harmless...))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isSafe(r) && !harmless(r) {
			problem.Write(w, http.StatusForbidden, "this server only shows crawls (--read-only, or seine mcp without --allow-write): change them by the seine command, or by another server")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// matcher returns a function that reports whether a request matches a pattern of http.ServeMux.
func matcher(patterns []string) func(*http.Request) bool {
	mux := http.NewServeMux()
	for _, pattern := range patterns {
		mux.Handle(pattern, http.NotFoundHandler())
	}
	return func(r *http.Request) bool {
		_, pattern := mux.Handler(r)
		return pattern != ""
	}
}
