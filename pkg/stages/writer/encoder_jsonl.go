package writer

import (
	"bufio"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// formats are the formats there are, by their names.
var formats = map[string]func() Format{
	"jsonl":     func() Format { return plain{} },
	"jsonl.gz":  func() Format { return new(gzipped) },
	"jsonl.zst": func() Format { return new(zstandard) },
}

// plain is one JSON object per line, as it came.
type plain struct{}

func (plain) Ext() string { return "jsonl" }

func (plain) NewEncoder(w io.Writer) (Encoder, error) {
	b := bufio.NewWriterSize(w, 64<<10)
	return &lines{w: b, end: b.Flush}, nil
}

// gzipped is plain in gzip (RFC 1952).
type gzipped struct{ pool sync.Pool }

func (*gzipped) Ext() string { return "jsonl.gz" }

func (f *gzipped) NewEncoder(w io.Writer) (Encoder, error) {
	z, ok := f.pool.Get().(*gzip.Writer)
	if !ok {
		z = gzip.NewWriter(nil)
	}
	// The compressor hands on a few hundred bytes at a time.
	b := bufio.NewWriterSize(w, 64<<10)
	z.Reset(b)
	return &lines{w: z, end: func() error {
		if err := z.Close(); err != nil {
			return err
		}
		z.Reset(nil)
		f.pool.Put(z)
		return b.Flush()
	}}, nil
}

// zstandard is plain in Zstandard (RFC 8878).
type zstandard struct{ pool sync.Pool }

func (*zstandard) Ext() string { return "jsonl.zst" }

// zstdWindow bounds how far back a match may be, and so the memory of an open
// chunk: 2.5 MiB with it, 10 MiB with the default of the level, for output of
// the same size (BenchmarkZstdWindow).
const zstdWindow = 512 << 10

func (f *zstandard) NewEncoder(w io.Writer) (Encoder, error) {
	z, ok := f.pool.Get().(*zstd.Encoder)
	if !ok {
		var err error
		z, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return nil, fmt.Errorf("make Zstandard encoder: %w", err)
		}
	}
	z.Reset(w)
	return &lines{w: z, end: func() error {
		if err := z.Close(); err != nil {
			return err
		}
		z.Reset(nil)
		f.pool.Put(z)
		return nil
	}}, nil
}

// lines ends each record with a line feed.
type lines struct {
	w   io.Writer
	end func() error
}

var lineFeed = []byte{'\n'}

func (l *lines) Append(record []byte) error {
	if _, err := l.w.Write(record); err != nil {
		return err
	}
	_, err := l.w.Write(lineFeed)
	return err
}

func (l *lines) Close() error { return l.end() }

var (
	_ Format = plain{}
	_ Format = (*gzipped)(nil)
	_ Format = (*zstandard)(nil)
)
