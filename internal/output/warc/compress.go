package warc

import (
	"github.com/klauspost/compress/zstd"

	"seine/internal/output/compress"
)

// Compression is how each record is compressed, by itself, so that one can be
// read where an index says it is. It is safe for concurrent use.
type Compression struct {
	// Ext is what the names of such files end in.
	Ext string
	*compress.Codec
}

// None does not compress records.
func None() *Compression { return &Compression{"warc", compress.None()} }

// Gzip has a record in each member, annex D.
func Gzip() *Compression { return &Compression{"warc.gz", compress.Gzip()} }

// zstdWindow bounds the memory of an open file. It is far below the 8 MiB that
// every reader of .warc.zst must know.
const zstdWindow = 1 << 20

// Zstd has a record in each frame, with its size and a checksum, as "Zstandard
// Compression for WARC Files 1.0" wants
// (https://iipc.github.io/warc-specifications/specifications/warc-zstd/).
func Zstd() *Compression {
	return &Compression{"warc.zst", compress.Zstd(zstd.WithEncoderCRC(true), zstd.WithWindowSize(zstdWindow))}
}
