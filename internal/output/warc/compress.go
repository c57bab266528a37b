package warc

import (
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Compression is how each record is compressed, by itself, so that one can be
// read where an index says it is. It is safe for concurrent use.
type Compression struct {
	// Ext is what the names of such files end in.
	Ext  string
	pool sync.Pool
}

// None is no compression.
func None() *Compression {
	return &Compression{Ext: "warc", pool: sync.Pool{New: func() any { return new(plain) }}}
}

// Gzip has a record in each member, annex D.
func Gzip() *Compression {
	c := &Compression{Ext: "warc.gz"}
	c.pool.New = func() any { return &gzipped{pool: &c.pool, z: gzip.NewWriter(nil)} }
	return c
}

// Zstd has a record in each frame, with its size and a checksum, as "Zstandard
// Compression for WARC Files 1.0" wants
// (https://iipc.github.io/warc-specifications/specifications/warc-zstd/).
func Zstd() *Compression {
	c := &Compression{Ext: "warc.zst"}
	c.pool.New = func() any { return &zstandard{pool: &c.pool, z: newZstd()} }
	return c
}

func (c *Compression) get() compressor { return c.pool.Get().(compressor) }

// compressor compresses one record after the other.
type compressor interface {
	// begin begins a record of size bytes on w.
	begin(w io.Writer, size int64) io.Writer
	end() error
	release()
}

type plain struct{}

func (*plain) begin(w io.Writer, _ int64) io.Writer { return w }
func (*plain) end() error                           { return nil }
func (*plain) release()                             {}

type gzipped struct {
	pool *sync.Pool
	z    *gzip.Writer
}

func (g *gzipped) begin(w io.Writer, _ int64) io.Writer {
	g.z.Reset(w)
	return g.z
}

func (g *gzipped) end() error { return g.z.Close() }

func (g *gzipped) release() {
	g.z.Reset(nil)
	g.pool.Put(g)
}

type zstandard struct {
	pool *sync.Pool
	z    *zstd.Encoder
}

// zstdWindow bounds the memory of an open file. It is far below the 8 MiB that
// every reader of .warc.zst must know.
const zstdWindow = 1 << 20

func newZstd() *zstd.Encoder {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(fmt.Sprintf("options of the Zstandard encoder: %v", err))
	}
	return z
}

func (z *zstandard) begin(w io.Writer, size int64) io.Writer {
	z.z.ResetContentSize(w, size)
	return z.z
}

func (z *zstandard) end() error { return z.z.Close() }

func (z *zstandard) release() {
	z.z.Reset(nil)
	z.pool.Put(z)
}

var (
	_ compressor = (*plain)(nil)
	_ compressor = (*gzipped)(nil)
	_ compressor = (*zstandard)(nil)
)
