package testweb

import (
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
)

// hostState is the behaviour that a test has set for one host.
type hostState struct {
	down   atomic.Bool
	forced atomic.Pointer[forcedStatus]
	whole  atomic.Pointer[answerer]

	mu       sync.Mutex                                  // held by writers
	handlers atomic.Pointer[map[string]http.HandlerFunc] // replaced, never modified
}

type forcedStatus struct {
	code       int
	retryAfter string
}

// Handle makes h answer for a path of a host instead of the site. A path with a query matches only
// that query; a path without one matches any. A nil h removes the handler.
func (w *Web) Handle(host int, path string, h http.HandlerFunc) {
	s := &w.hosts[host]
	s.mu.Lock()
	defer s.mu.Unlock()
	next := map[string]http.HandlerFunc{}
	if old := s.handlers.Load(); old != nil {
		next = maps.Clone(*old)
	}
	next[path] = h
	if h == nil {
		delete(next, path)
	}
	s.handlers.Store(&next)
}

// SetHostDown makes a host close every connection without an answer, or ends that. It takes
// precedence over Handle.
func (w *Web) SetHostDown(host int, down bool) { w.hosts[host].down.Store(down) }

// SetStatus makes a whole host, including robots.txt, answer with code and an optional Retry-After;
// code 0 ends that. Paths with a handler keep it.
func (w *Web) SetStatus(host, code int, retryAfter string) {
	if code == 0 {
		w.hosts[host].forced.Store(nil)
		return
	}
	w.hosts[host].forced.Store(&forcedStatus{code, retryAfter})
}

// intercept answers instead of the site if the test has set a behaviour for the request.
func (s *hostState) intercept(rw http.ResponseWriter, r *http.Request) bool {
	if s.down.Load() {
		cut(rw, false)
		return true
	}
	if h := s.whole.Load(); h != nil && (*h)(rw, r) {
		return true
	}
	if h := s.handler(r); h != nil {
		h(rw, r)
		return true
	}
	f := s.forced.Load()
	if f == nil {
		return false
	}
	if f.retryAfter != "" {
		rw.Header().Set("Retry-After", f.retryAfter)
	}
	http.Error(rw, http.StatusText(f.code), f.code)
	return true
}

func (s *hostState) handler(r *http.Request) http.HandlerFunc {
	handlers := s.handlers.Load()
	if handlers == nil {
		return nil
	}
	if h := (*handlers)[r.URL.RequestURI()]; h != nil {
		return h
	}
	return (*handlers)[r.URL.EscapedPath()]
}
