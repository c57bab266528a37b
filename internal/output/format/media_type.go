package format

import (
	"strings"

	"seine/internal/output/warc"
)

// Media types of compressed files, whatever is in them.
const (
	gzipMedia = "application/gzip"
	zstdMedia = "application/zstd"
)

// MediaType returns the media type of a file of a format, or of an index beside one, by the
// file's name; AnyType of any other, as of what is encrypted. S3 stores it.
//
// Compressed files have the type of their compression, and no Content-Encoding: with one, browsers and
// many clients would decompress it while they fetch it, and a file named .gz would hold
// something else than its name says, and than the SHA-256 in the log is of.
func MediaType(name string) string {
	if e := find(NameOf(name)); e.media != "" {
		return e.media
	}
	if strings.HasSuffix(name, "."+warc.IndexExt) {
		return "text/plain; charset=utf-8"
	}
	return AnyType
}
