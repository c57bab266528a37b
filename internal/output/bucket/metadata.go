package bucket

import (
	"encoding/hex"
	"fmt"
	"strings"

	"seine/internal/output"
	"seine/internal/output/format"
)

// Metadata of objects of one record each.
const (
	metaMade = "seine-message" // the message it was made from
	metaSum  = "seine-sha256"
	metaURL  = "seine-url" // URL of its page
	// maxMetadata bounds the total size of an object's metadata names and values: Amazon's limit.
	maxMetadata = 2 << 10
)

// metadataOf returns the metadata of an object. It leaves out a URL that does not fit: a truncated
// one would be a different URL.
func metadataOf(k *keptObject, made string) map[string]string {
	all := map[string]string{metaMade: made, metaSum: hex.EncodeToString(k.sum)}
	size := len(metaURL)
	for name, value := range all {
		size += len(name) + len(value)
	}
	if url := inHeader(k.URL); url != "" && size+len(url) <= maxMetadata {
		all[metaURL] = url
	}
	return all
}

// inHeader percent-escapes bytes that are not allowed in a header. Only records of other producers
// can have such URLs.
func inHeader(url string) string {
	var b strings.Builder
	for _, c := range []byte(url) {
		if c <= ' ' || c > '~' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// typeOf returns the media type of a file by its key.
func typeOf(key string) *string {
	media := format.MediaType(key)
	if strings.HasSuffix(key, "/"+marker) || strings.HasSuffix(key, "/"+output.PlaceFile) {
		media = "text/plain; charset=utf-8"
	}
	return &media
}
