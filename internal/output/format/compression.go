package format

import (
	"bufio"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// packing is how the bytes of a chunk are compressed. It is safe for concurrent
// use.
type packing interface {
	// open begins a file on w.
	open(w io.Writer) (packer, error)
}

// packer compresses one file.
type packer interface {
	io.Writer
	// EndRecord says that what comes next is another record.
	EndRecord() error
	// Close ends the file. It does not close the writer below.
	Close() error
}

// plain is no compression.
type plain struct{}

func (plain) open(w io.Writer) (packer, error) { return unpacked{bufio.NewWriterSize(w, 64<<10)}, nil }

type unpacked struct{ *bufio.Writer }

func (unpacked) EndRecord() error { return nil }
func (u unpacked) Close() error   { return u.Flush() }

// gzipped is gzip (RFC 1952).
type gzipped struct{ pool sync.Pool }

func (g *gzipped) open(w io.Writer) (packer, error) {
	z, ok := g.pool.Get().(*gzip.Writer)
	if !ok {
		z = gzip.NewWriter(nil)
	}
	// The compressor hands on a few hundred bytes at a time.
	out := bufio.NewWriterSize(w, 64<<10)
	z.Reset(out)
	return &gzipFile{Writer: z, out: out, pool: &g.pool}, nil
}

type gzipFile struct {
	*gzip.Writer
	out  *bufio.Writer
	pool *sync.Pool
}

func (*gzipFile) EndRecord() error { return nil }

func (f *gzipFile) Close() error {
	if err := f.Writer.Close(); err != nil {
		return err
	}
	f.Writer.Reset(nil)
	f.pool.Put(f.Writer)
	return f.out.Flush()
}

// zstandard is Zstandard (RFC 8878) in frames that can be read alone, and at the
// end the table of where they are: see seekable.
type zstandard struct {
	frame int // what a frame has at least, before compression
	pool  sync.Pool
}

func newZstandard() *zstandard { return &zstandard{frame: zstdFrame} }

// zstdWindow bounds how far back a match may be, and so the memory of an open
// chunk: 2.5 MiB with it, 10 MiB with the default of the level, for output of
// the same size (BenchmarkZstdWindow).
const zstdWindow = 512 << 10

func newZstdEncoder(more ...zstd.EOption) (*zstd.Encoder, error) {
	z, err := zstd.NewWriter(nil, append(more, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))...)
	if err != nil {
		return nil, fmt.Errorf("make Zstandard encoder: %w", err)
	}
	return z, nil
}

func (p *zstandard) open(w io.Writer) (packer, error) {
	z, ok := p.pool.Get().(*zstd.Encoder)
	if !ok {
		var err error
		if z, err = newZstdEncoder(); err != nil {
			return nil, err
		}
	}
	s := &seekable{z: z, least: p.frame, out: counting{w: w}, release: func() {
		z.Reset(nil)
		p.pool.Put(z)
	}}
	z.Reset(&s.out)
	return s, nil
}
