package format

import (
	"bufio"
	"io"

	"github.com/klauspost/compress/zstd"

	"seine/internal/output/compress"
)

// packing compresses the bytes of chunks. It is safe for concurrent use.
type packing interface {
	// open begins a file on w.
	open(w io.Writer) packer
}

// packer compresses one file.
type packer interface {
	io.Writer
	// EndRecord marks the end of a record.
	EndRecord() error
	// Close ends the file. It does not close the underlying writer.
	Close() error
}

// whole compresses a file as one member.
type whole struct{ codec *compress.Codec }

func (w whole) open(to io.Writer) packer {
	// The compressor writes a few hundred bytes at a time.
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

// zstandard compresses as Zstandard (RFC 8878) in frames that can be read separately, with a seek
// table at the end: see seekable.
type zstandard struct {
	frame int // minimum size of a frame before compression
	codec *compress.Codec
}

func newZstandard(frame int) zstandard { return zstandard{frame, compress.Zstd(zstdOptions...)} }

// zstdWindow bounds how far back a match may be, and so the memory of an open chunk: 2.5 MiB
// instead of 10 MiB with the level's default, for output of the same size (BenchmarkZstdWindow).
const zstdWindow = 512 << 10

var zstdOptions = []zstd.EOption{zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(zstdWindow)}

func (p zstandard) open(w io.Writer) packer {
	s := &seekable{e: p.codec.Get(), least: p.frame, out: counting{w: w}}
	s.z = s.e.Begin(&s.out, 0)
	return s
}
