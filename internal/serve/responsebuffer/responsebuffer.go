// Package responsebuffer buffers the response of a handler in memory, for callers of the API in the
// same process. It has no limit, because the API limits its responses.
package responsebuffer

import (
	"bytes"
	"net/http"
)

// Buffer is an http.ResponseWriter.
type Buffer struct {
	Status int // 200 unless the handler sets it
	Body   bytes.Buffer

	header http.Header
	wrote  bool
}

// New returns an empty buffer.
func New() *Buffer { return &Buffer{Status: http.StatusOK, header: make(http.Header)} }

// Header implements http.ResponseWriter.
func (b *Buffer) Header() http.Header { return b.header }

// WriteHeader implements http.ResponseWriter.
func (b *Buffer) WriteHeader(status int) {
	if !b.wrote && status >= http.StatusOK {
		b.Status, b.wrote = status, true
	}
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.wrote = true
	return b.Body.Write(p) // never fails
}
