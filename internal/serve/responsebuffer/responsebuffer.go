// Package responsebuffer keeps in memory what a handler answers, for those in the same process that ask the API as a
// client does. It bounds nothing: the API bounds its answers.
package responsebuffer

import (
	"bytes"
	"net/http"
)

// Buffer is a http.ResponseWriter.
type Buffer struct {
	Status int // 200 if the handler says nothing else
	Body   bytes.Buffer

	header http.Header
	wrote  bool
}

// New returns one that has nothing yet.
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
