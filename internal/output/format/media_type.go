package format

import (
	"strings"

	"seine/internal/output/warc"
)

// Media types of compressed files, whatever their content.
const (
	gzipMedia = "application/gzip"
	zstdMedia = "application/zstd"
)

// MediaType returns the media type for the name of a file of a format, or of an index beside one.
// It is AnyType for other files, such as encrypted ones. S3 stores it.
//
// Compressed files have the type of their compression, and no Content-Encoding. With one, browsers
// and many clients would decompress the file while they fetch it: a file named .gz would not be
// compressed, and would not match the SHA-256 in the log.
func MediaType(name string) string {
	if e := find(NameOf(name)); e.media != "" {
		return e.media
	}
	if strings.HasSuffix(name, "."+warc.IndexExt) {
		return "text/plain; charset=utf-8"
	}
	return AnyType
}
