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
	metaMade = "seine-message" // which message it was made of
	metaSum  = "seine-sha256"
	metaURL  = "seine-url" // of its page
	// maxMetadata bounds the names and values of an object together: Amazon's limit.
	maxMetadata = 2 << 10
)

// metadataOf returns the metadata of an object. A URL for which there is no room is left
// out: half of one would be another.
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

// inHeader escapes what a header should not have, as URLs do. Those of Seine have nothing
// of that kind; the records of others may.
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
