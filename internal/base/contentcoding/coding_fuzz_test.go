package contentcoding

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// FuzzReader: decoding any bytes in any coding ends, with an error of this package or within the
// ratio.
func FuzzReader(f *testing.F) {
	f.Add("gzip", []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add("deflate", []byte("\x78\x9c\x03\x00\x00\x00\x00\x01"))
	f.Add("br, zstd", []byte("\x28\xb5\x2f\xfd\x04\x00\x01\x00\x00\x99\xe9\xd8\x51"))
	f.Add("br", []byte("\x3b"))
	f.Fuzz(func(t *testing.T, header string, body []byte) {
		names, bad := Parse([]string{header})
		if bad != nil {
			return
		}
		z := NewReader(bytes.NewReader(body), names, 10)
		n, err := io.Copy(io.Discard, z)
		if err := z.Close(); err != nil {
			t.Error(err)
		}
		_, invalid := errors.AsType[*InvalidError](err)
		if _, ratio := errors.AsType[*RatioError](err); err != nil && !invalid && !ratio {
			t.Errorf("%v is not of this package", err)
		}
		if most := max(ratioFree, 10*int64(len(body))) + 1<<20; n > most {
			t.Errorf("%d bytes came out of %d", n, len(body))
		}
	})
}
