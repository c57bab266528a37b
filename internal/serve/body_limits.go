package serve

import (
	"net/http"
	"time"
)

// Limits of requests and responses. Some operations of the API have smaller ones.
const (
	maxBody      = 16 << 20
	maxMessage   = 4 << 20 // of the Model Context Protocol
	bodyTimeout  = time.Minute
	writeTimeout = 3 * time.Minute // streams extend it with each part

	// For clients without a token, who can only send one and load the login page.
	maxUnknownBody = 8 << 10
	unknownTimeout = 10 * time.Second
)

// limitBodies bounds the size of a request, and the time to send it and to receive the response.
func limitBodies(most int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		most, send, take := most, bodyTimeout, writeTimeout
		if !known(r) {
			most, send, take = maxUnknownBody, unknownTimeout, unknownTimeout
		}
		c, now := http.NewResponseController(w), time.Now()
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = http.MaxBytesReader(w, r.Body, most)
			_ = c.SetReadDeadline(now.Add(send)) // a recorder in a test has none
		}
		_ = c.SetWriteDeadline(now.Add(take))
		next.ServeHTTP(w, r)
	})
}
