package serve

import (
	"net/http"
	"time"
)

// Limits of what a request sends and an answer takes. Operations of the API have smaller ones of their own.
const (
	maxBody      = 16 << 20
	maxMessage   = 4 << 20 // of the Model Context Protocol
	bodyTimeout  = time.Minute
	writeTimeout = 3 * time.Minute // streams set theirs again with each part

	// Of clients without a token, who can send one, and read the page of login.
	maxUnknownBody = 8 << 10
	unknownTimeout = 10 * time.Second
)

// limitBodies bounds how much a client sends, how slowly, and how slowly it takes the answer.
func limitBodies(most int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		most, send, take := most, bodyTimeout, writeTimeout
		if !known(r) {
			most, send, take = maxUnknownBody, unknownTimeout, unknownTimeout
		}
		c, now := http.NewResponseController(w), time.Now()
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = http.MaxBytesReader(w, r.Body, most)
			_ = c.SetReadDeadline(now.Add(send)) // not of a test's recorder
		}
		_ = c.SetWriteDeadline(now.Add(take))
		next.ServeHTTP(w, r)
	})
}
