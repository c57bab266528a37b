package testweb

import "net/http"

// answerer may answer a request. It reports whether it did.
type answerer func(http.ResponseWriter, *http.Request) bool

// HandleHost makes h answer for a whole host, including robots.txt. If h reports false, a handler
// of the path or the site answers. A nil h removes the handler.
func (w *Web) HandleHost(host int, h func(http.ResponseWriter, *http.Request) bool) {
	if h == nil {
		w.hosts[host].whole.Store(nil)
		return
	}
	a := answerer(h)
	w.hosts[host].whole.Store(&a)
}
