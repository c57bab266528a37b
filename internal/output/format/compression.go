package format

import (
	"bufio"
	"io"

	"github.com/klauspost/compress/zstd"

	"seine/internal/output/compress"
)

// packing is how the bytes of a chunk are compressed. It is safe for concurrent
// use.
type packing interface {
	// open begins a file on w.
	open(w io.Writer) packer
}

// packer compresses one file.
type packer interface {
	io.Writer
	// EndRecord says that what comes next is another record.
	EndRecord() error
	// Close ends the file. It does not close the writer below.
	Close() error
}

// whole compresses a file as one member.
type whole struct{ codec *compress.Codec }

func (w whole) open(to io.Writer) packer {
	// The compressor hands on a few hundred bytes at a time.
	out, e := bufio.NewWriterSize(to, 64<<10), w.codec.Get()
	return &member{e.Begin(out, 0), e, out}
}

type member struct {
	io.Writer
	e   *compress.Encoder
	out *bufio.Writer
}

func (*member) EndRecord() error { return nil }

func (m *member) Close() error {
	if err := m.e.End(); err != nil {
		return err
	}
	m.e.Release()
	return m.out.Flush()
}

// zstandard is Zstandard (RFC 8878) in frames that can be read alone, and at the
// end the table of where they are: see seekable.
type zstandard struct {
	frame int // what a frame has at least, before compression
	codec *compress.Codec
}

func newZstandard(frame int) zstandard { return zstandard{frame, compress.Zstd(zstdOptions...)} }

// zstdWindow bounds how far back a match may be, and so the memory of an open
// chunk: 2.5 MiB with it, 10 MiB with the default of the level, for output of
// the same size (BenchmarkZstdWindow).
const zstdWindow = 512 << 10

var zstdOptions = []zstd.EOption{zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(zstdWindow)}

func (p zstandard) open(w io.Writer) packer {
	s := &seekable{e: p.codec.Get(), least: p.frame, out: counting{w: w}}
	s.z = s.e.Begin(&s.out, 0)
	return s
}
