package pageproxy

import "net/http"

// bare writes responses without the fields that net/http adds to those that
// lack them: a guess of the Content-Type, and the Date.
type bare struct{ http.ResponseWriter }

func (b bare) WriteHeader(status int) {
	if status >= http.StatusOK {
		h := b.Header()
		for _, name := range []string{"Content-Type", "Date"} {
			if _, ok := h[name]; !ok {
				h[name] = nil
			}
		}
	}
	b.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController find what the server can do.
func (b bare) Unwrap() http.ResponseWriter { return b.ResponseWriter }
