package testweb

import (
	"net/http"
	"sync"
	"time"
)

// Request is one request as the server saw it.
//
// At is the time when the handler was called, never before the client sent the request. End is the
// time when the answer was complete but for its last write, never after the client could have read
// all of it. So the gap between two Requests is never shorter than the client's, and a client that
// waits for each answer never seems to overlap.
type Request struct {
	At        time.Time `json:"at"`
	End       time.Time `json:"end"`  // zero while the request is in flight
	Host      string    `json:"host"` // without a port; every name of host 0 is "h0.<domain>"
	Method    string    `json:"method"`
	Path      string    `json:"path"` // as sent, with the query
	UserAgent string    `json:"user_agent,omitempty"`
	Status    int       `json:"status"` // 0 if the connection was cut without a status
	Bytes     int       `json:"bytes"`  // of the encoded body
}

// Log records requests in order of arrival. A request is recorded before it is handled, and its
// status and size before the client can see them.
type Log struct {
	now   func() time.Time
	limit int

	mu       sync.Mutex
	requests []*Request
	dropped  int
}

// NewLog returns a log of at most limit requests; 0 means DefaultLogLimit.
func NewLog(limit int) *Log {
	setInt(&limit, DefaultLogLimit)
	return &Log{now: time.Now, limit: limit}
}

// Requests returns a copy of the log, ordered by At.
func (l *Log) Requests() []Request { return l.Select(func(*Request) bool { return true }) }

// Select returns a copy of the requests that keep accepts, ordered by At. keep must not retain the
// pointer.
func (l *Log) Select(keep func(*Request) bool) []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	var kept []Request
	for _, r := range l.requests {
		if keep(r) {
			kept = append(kept, *r)
		}
	}
	return kept
}

// Count returns the number of requests for a path, including its query, on any host and with any
// method.
func (l *Log) Count(path string) int {
	return len(l.Select(func(r *Request) bool { return r.Path == path }))
}

// Dropped returns the number of requests that arrived after the limit.
func (l *Log) Dropped() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}

// Reset empties the log.
func (l *Log) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests, l.dropped = nil, 0
}

// Add logs a request that did not pass a Handler.
func (l *Log) Add(r Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(&r)
}

// add logs a request. The caller holds mu, so that the log is in order.
func (l *Log) add(r *Request) {
	r.At = l.now()
	if len(l.requests) < l.limit {
		l.requests = append(l.requests, r)
	} else {
		l.dropped++
	}
}

// Handler records the requests that next serves. The host function names the host; nil means the
// Host header.
func (l *Log) Handler(next http.Handler, host func(*http.Request) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Host
		if host != nil {
			name = host(r)
		}
		rec := l.record(w, r, name)
		ok := false
		defer func() { rec.finish(ok) }()
		next.ServeHTTP(rec, r)
		ok = true
	})
}

func (l *Log) record(w http.ResponseWriter, r *http.Request, host string) *recorder {
	req := &Request{Host: host, Method: r.Method, Path: r.URL.RequestURI(), UserAgent: r.UserAgent()}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(req)
	return &recorder{ResponseWriter: w, log: l, request: req, declared: -1}
}
