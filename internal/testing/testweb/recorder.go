package testweb

import (
	"bufio"
	"net"
	"net/http"
	"strconv"
)

// recorder is a ResponseWriter that keeps a Request up to date, always ahead of the client.
type recorder struct {
	http.ResponseWriter
	log *Log

	request  *Request // guarded by log.mu
	declared int      // Content-Length, or -1
	started  bool
	hijacked bool
}

// Unwrap supports http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if !r.started && status >= 200 {
		r.started = true
		if n, err := strconv.Atoi(r.Header().Get("Content-Length")); err == nil {
			r.declared = n
		}
		r.log.mu.Lock()
		r.request.Status = status
		r.log.mu.Unlock()
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) {
	if !r.started {
		r.WriteHeader(http.StatusOK)
	}
	if r.request.Method == http.MethodHead {
		return r.ResponseWriter.Write(p)
	}
	r.add(len(p))
	n, err := r.ResponseWriter.Write(p)
	if n < len(p) {
		r.add(n - len(p))
	}
	return n, err
}

// add counts bytes about to be written. With the last byte of a declared length the client may see
// the end before the handler returns, so the request ends now. Otherwise net/http completes the
// answer after the handler returns.
func (r *recorder) add(n int) {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	r.request.Bytes += n
	if r.declared >= 0 && r.request.Bytes >= r.declared && r.request.End.IsZero() {
		r.request.End = r.log.now()
	}
}

// Flush implements http.Flusher.
func (r *recorder) Flush() {
	if !r.started {
		r.WriteHeader(http.StatusOK)
	}
	_ = http.NewResponseController(r.ResponseWriter).Flush()
}

// Hijack implements http.Hijacker. The status is kept, 0 if nothing has been sent. The request ends
// now, because the client may see the end of the connection before the handler, which closes it,
// continues.
func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(r.ResponseWriter).Hijack()
	if err == nil {
		r.hijacked = true
		r.log.mu.Lock()
		defer r.log.mu.Unlock()
		r.request.End = r.log.now()
	}
	return conn, rw, err
}

// finish ends the request; returned is false if the handler panicked.
func (r *recorder) finish(returned bool) {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	if r.request.End.IsZero() {
		r.request.End = r.log.now()
	}
	if r.request.Status == 0 && returned && !r.hijacked {
		r.request.Status = http.StatusOK
	}
}
