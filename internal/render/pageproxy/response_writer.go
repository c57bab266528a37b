package pageproxy

import "net/http"

// bare writes responses without the fields that net/http adds if they are missing: a guessed
// Content-Type, and the Date.
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

// Unwrap lets http.ResponseController find the features of the server.
func (b bare) Unwrap() http.ResponseWriter { return b.ResponseWriter }
