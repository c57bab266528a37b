package warc

import (
	"github.com/klauspost/compress/zstd"

	"seine/internal/output/compress"
)

// Compression compresses each record separately, so that a record can be read at the offset that an
// index has. It is safe for concurrent use.
type Compression struct {
	// Ext is the extension of the files.
	Ext string
	*compress.Codec
}

// None does not compress records.
func None() *Compression { return &Compression{"warc", compress.None()} }

// Gzip compresses each record as one gzip member, annex D.
func Gzip() *Compression { return &Compression{"warc.gz", compress.Gzip()} }

// zstdWindow bounds the memory of an open file. It is far below the 8 MiB that every reader of
// .warc.zst must support.
const zstdWindow = 1 << 20

// Zstd compresses each record as one frame with its size and a checksum, as required by "Zstandard
// Compression for WARC Files 1.0"
// (https://iipc.github.io/warc-specifications/specifications/warc-zstd/).
func Zstd() *Compression {
	return &Compression{"warc.zst", compress.Zstd(zstd.WithEncoderCRC(true), zstd.WithWindowSize(zstdWindow))}
}
