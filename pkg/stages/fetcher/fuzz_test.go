package fetcher

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"seine/internal/weburl"
)

// FuzzTarget: the request line holds the path of the canonical URL and nothing
// else, or the whole URL.
func FuzzTarget(f *testing.F) {
	for _, path := range []string{"/", "//", "//a|b", "/%zz?%zz", "//%zz", "/a?b?c", "//a?|", "/*", "//*"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		url, err := weburl.Canonicalize("http://h.example/" + path)
		if err != nil {
			return
		}
		if got := target(url).RequestURI(); got != weburl.Path(url) && got != url {
			t.Errorf("%s: sends %s", url, got)
		}
	})
}

// FuzzDecode: any bytes in any encoding end, with a failure or with no more
// than the ratio allows.
func FuzzDecode(f *testing.F) {
	f.Add("gzip", []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add("deflate", []byte("\x78\x9c\x03\x00\x00\x00\x00\x01"))
	f.Add("br, zstd", []byte("\x28\xb5\x2f\xfd\x04\x00\x01\x00\x00\x99\xe9\xd8\x51"))
	f.Add("br", []byte("\x3b"))
	f.Fuzz(func(t *testing.T, header string, body []byte) {
		names, bad := codings([]string{header})
		if bad != nil {
			return
		}
		wire := int64(len(body))
		r, layers := decode(bytes.NewReader(body), names, &wire, 10)
		defer done(layers)
		n, err := io.Copy(io.Discard, r)
		if _, ok := errors.AsType[*failure](err); err != nil && !ok {
			t.Errorf("%v is no failure", err)
		}
		if most := max(ratioFree, 10*wire) + 1<<20; n > most {
			t.Errorf("%d bytes came out of %d", n, wire)
		}
	})
}
