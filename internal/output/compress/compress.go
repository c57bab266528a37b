// Package compress compresses files in members that can be read separately. It reuses encoders,
// which hold much memory.
package compress

import (
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Codec is a compression method with a pool of encoders. It is safe for concurrent use.
type Codec struct{ pool sync.Pool }

// Get returns an encoder. If the caller drops it without Release, only its memory is lost.
func (c *Codec) Get() *Encoder { return &Encoder{codec: c, e: c.pool.Get().(encoder)} }

// Encoder compresses one member at a time.
type Encoder struct {
	codec *Codec
	e     encoder
}

// Begin begins a member of size bytes on w; a size of 0 is unknown.
func (e *Encoder) Begin(w io.Writer, size int64) io.Writer { return e.e.begin(w, size) }

// End ends the member.
func (e *Encoder) End() error { return e.e.Close() }

// Release returns the encoder to the pool.
func (e *Encoder) Release() {
	e.e.begin(nil, 0)
	e.codec.pool.Put(e.e)
}

type encoder interface {
	begin(w io.Writer, size int64) io.Writer
	io.Closer
}

// None returns a codec that does not compress.
func None() *Codec { return &Codec{sync.Pool{New: func() any { return plain{} }}} }

type plain struct{}

func (plain) begin(w io.Writer, _ int64) io.Writer { return w }
func (plain) Close() error                         { return nil }

// Gzip returns a codec of gzip members (RFC 1952).
func Gzip() *Codec { return &Codec{sync.Pool{New: func() any { return gzipped{gzip.NewWriter(nil)} }}} }

type gzipped struct{ *gzip.Writer }

func (g gzipped) begin(w io.Writer, _ int64) io.Writer {
	g.Reset(w)
	return g.Writer
}

// Zstd returns a codec of Zstandard frames (RFC 8878).
func Zstd(options ...zstd.EOption) *Codec {
	return &Codec{sync.Pool{New: func() any { return zstandard{NewZstd(options...)} }}}
}

// NewZstd returns a Zstandard encoder that uses one goroutine and little memory.
func NewZstd(options ...zstd.EOption) *zstd.Encoder {
	z, err := zstd.NewWriter(nil, append([]zstd.EOption{zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true)}, options...)...)
	if err != nil {
		panic(fmt.Sprintf("options of the Zstandard encoder: %v", err)) // the options are constants
	}
	return z
}

type zstandard struct{ *zstd.Encoder }

func (z zstandard) begin(w io.Writer, size int64) io.Writer {
	z.ResetContentSize(w, size)
	return z.Encoder
}
