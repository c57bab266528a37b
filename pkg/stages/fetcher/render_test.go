package fetcher

import (
	"bytes"
	"compress/gzip"
	"testing"
)

// Responses to scripts are untrusted: a few kilobytes that decode to gigabytes must not be held.
func TestDecodedBodyIsBounded(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	for range 4 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := decodedBody(zipped.Bytes(), "gzip", 1<<20); err == nil {
		t.Error("4 MiB are decoded, and the limit is 1 MiB")
	}
	if body, err := decodedBody(zipped.Bytes(), "gzip", 4<<20); err != nil || len(body) != 4<<20 {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	if body, err := decodedBody([]byte("plain"), "", 1); err != nil || string(body) != "plain" {
		t.Errorf("%q, %v", body, err)
	}
}
