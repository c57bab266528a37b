package pageproxy

import (
	"errors"
	"io"
	"log"
	"sync"
)

// upload is the body of a request.
type upload struct {
	io.ReadCloser
	of *transfer
}

func (u *upload) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		u.of.broke(errGaveUp)
	}
	n, err = u.of.count(n, err)
	u.of.keepRequest(p[:n])
	return n, err
}

// download is the body of a response.
type download struct {
	io.ReadCloser
	of *transfer
}

func (d *download) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	n, err = d.of.count(n, err)
	d.of.keepResponse(p[:n], err)
	return n, err
}

// socket is a connection that has switched to another protocol, such as WebSocket.
type socket struct {
	io.ReadWriteCloser
	of *transfer
}

func (s *socket) Read(p []byte) (int, error) {
	n, err := s.ReadWriteCloser.Read(p)
	return s.of.count(n, err)
}

func (s *socket) Write(p []byte) (int, error) {
	n, err := s.of.count(len(p), nil)
	if err != nil {
		return 0, err
	}
	return s.ReadWriteCloser.Write(p[:n])
}

// CloseWrite passes on the end of the browser's data.
func (s *socket) CloseWrite() error {
	if c, ok := s.ReadWriteCloser.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

// count counts bytes that pass, and cuts off those beyond the limit of the visit.
func (t *transfer) count(n int, err error) (int, error) {
	passed, tooMany := t.visit.tally.take(n)
	if tooMany == nil {
		return n, err
	}
	t.broke(tooMany)
	return passed, tooMany
}

func (t *transfer) keepRequest(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.visit.Record != nil && !t.ended {
		kept, _ := appendUpTo(t.exchange.RequestBody, p, maxRequestBody)
		t.exchange.RequestBody = kept
	}
}

func (t *transfer) keepResponse(p []byte, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	if t.visit.Record != nil {
		kept, all := appendUpTo(t.exchange.Body, p, t.visit.MaxRecorded)
		t.exchange.Body = kept
		t.exchange.Truncated = t.exchange.Truncated || !all
	}
	switch {
	case errors.Is(err, io.EOF):
		t.whole = true
	case err != nil && t.exchange.Err == nil:
		t.exchange.Err = err
	}
}

// appendUpTo appends until there are limit bytes, and reports whether all bytes were appended.
func appendUpTo(to, p []byte, limit int64) (kept []byte, all bool) {
	left := max(limit-int64(len(to)), 0)
	if int64(len(p)) > left {
		return append(to, p[:left]...), false
	}
	return append(to, p...), true
}

// bufferPool provides ReverseProxy with buffers.
type bufferPool struct{ pool sync.Pool }

var buffers = &bufferPool{sync.Pool{New: func() any { return new([bufferSize]byte) }}}

const bufferSize = 32 << 10

func (b *bufferPool) Get() []byte { return b.pool.Get().(*[bufferSize]byte)[:] }

func (b *bufferPool) Put(p []byte) { b.pool.Put((*[bufferSize]byte)(p)) }

// discard drops the log of ReverseProxy: each failure is in the exchange, too.
var discard = log.New(io.Discard, "", 0)
