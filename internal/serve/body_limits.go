package serve

import (
	"net/http"
	"time"
)

// Limits of what a request sends and an answer takes. Operations of the API have smaller ones of their own.
const (
	maxBody      = 16 << 20
	bodyTimeout  = time.Minute
	writeTimeout = 3 * time.Minute // streams set theirs anew with each part
)

// limitBodies bounds how much a client sends, how slowly, and how slowly it takes the answer.
func limitBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, now := http.NewResponseController(w), time.Now()
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			_ = c.SetReadDeadline(now.Add(bodyTimeout)) // not of a test's recorder
		}
		_ = c.SetWriteDeadline(now.Add(writeTimeout))
		next.ServeHTTP(w, r)
	})
}
