package scriptweb

import (
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Request is a request that came.
type Request struct {
	Server string // "main", "other", "secure" or "udp"
	Method string // "UDP" for a packet
	Host   string // as the client named it
	Path   string // with its query
	Header http.Header
}

// requestLog remembers all requests.
type requestLog struct {
	mu       sync.Mutex
	requests []Request
}

func (l *requestLog) add(r Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests = append(l.requests, r)
}

// Log returns the requests that came so far, in their order.
func (l *requestLog) Log() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.requests)
}

// Requests is how often a path was asked for, of any server: with the very query, if the path has one, else with any.
func (l *requestLog) Requests(path string) int {
	count := 0
	for _, r := range l.Log() {
		at := r.Path
		if !strings.Contains(path, "?") {
			at, _, _ = strings.Cut(at, "?")
		}
		if at == path {
			count++
		}
	}
	return count
}

// Forget empties the log.
func (l *requestLog) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests = nil
}
