package serve

import (
	"net/http"
	"strings"
	"time"

	"seine/internal/serve/audit"
	"seine/internal/serve/caller"
	"seine/internal/serve/problem"
)

// audited writes down each request that may change something, with its outcome, refused ones too.
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

// outcome remembers how a request ended.
type outcome struct {
	http.ResponseWriter
	status int
	wrote  bool
	text   []byte // the beginning of a problem
}

// maxReason bounds what is kept of an answer.
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

// Unwrap is for http.ResponseController.
func (o *outcome) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// reason is the detail of a problem.
func (o *outcome) reason() string {
	if !strings.HasPrefix(o.Header().Get("Content-Type"), problem.ContentType) {
		return ""
	}
	return problem.Detail(o.text)
}
