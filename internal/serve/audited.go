package serve

import (
	"net/http"
	"strings"
	"time"

	"seine/internal/serve/audit"
	"seine/internal/serve/caller"
	"seine/internal/serve/problem"
)

// audited logs each request that may change something, with its result, including rejected ones.
func (o *Options) audited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isSafe(r) {
			next.ServeHTTP(w, r)
			return
		}
		began, out, subject := time.Now(), &outcome{ResponseWriter: w, status: http.StatusOK}, new(audit.Subject)
		defer func() {
			err := o.Audit.Add(audit.Entry{
				Time: began.UTC(), Who: caller.Of(r.Context()).Name, From: r.RemoteAddr, Method: r.Method, Path: r.URL.RequestURI(), Subject: *subject,
				Status: out.status, Reason: out.reason(), TookMS: time.Since(began).Milliseconds(), Request: r.Header.Get("X-Request-Id"),
			})
			if err != nil {
				o.Log.Error("cannot write an audit entry", "error", err, "method", r.Method, "path", r.URL.Path)
			}
		}()
		next.ServeHTTP(out, r.WithContext(audit.WithSubject(r.Context(), subject)))
	})
}

// outcome records the result of a request.
type outcome struct {
	http.ResponseWriter
	status int
	wrote  bool
	text   []byte // beginning of a problem document
}

// maxReason bounds the recorded part of a response, in bytes.
const maxReason = 4 << 10

// WriteHeader implements http.ResponseWriter.
func (o *outcome) WriteHeader(status int) {
	if !o.wrote {
		o.status, o.wrote = status, true
	}
	o.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (o *outcome) Write(p []byte) (int, error) {
	o.wrote = true
	if o.status >= 400 {
		o.text = append(o.text, p[:min(len(p), maxReason-len(o.text))]...)
	}
	return o.ResponseWriter.Write(p)
}

// Unwrap supports http.ResponseController.
func (o *outcome) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// reason returns the detail of a problem document.
func (o *outcome) reason() string {
	if !strings.HasPrefix(o.Header().Get("Content-Type"), problem.ContentType) {
		return ""
	}
	return problem.Detail(o.text)
}
