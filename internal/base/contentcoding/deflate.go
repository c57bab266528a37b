package contentcoding

import (
	"bufio"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zlib"
)

// deflate decodes both formats with this name: the zlib format, as in RFC 9110 8.4.1.2, and the raw
// stream that some servers send.
type deflate struct {
	zlib, raw, now io.Reader
}

func (d *deflate) Read(p []byte) (int, error) { return d.now.Read(p) }

// Reset requires a *bufio.Reader, to look ahead.
func (d *deflate) Reset(r io.Reader) (err error) {
	src := r.(*bufio.Reader)
	head, err := src.Peek(2)
	if err != nil && len(head) == 0 {
		return err
	}
	if !isZlib(head) {
		if d.raw == nil {
			d.raw = flate.NewReader(src)
		} else {
			err = d.raw.(flate.Resetter).Reset(src, nil)
		}
		d.now = d.raw
		return err
	}
	if d.zlib == nil {
		d.zlib, err = zlib.NewReader(src)
		d.now = d.zlib
		return err
	}
	d.now = d.zlib
	return d.zlib.(zlib.Resetter).Reset(src, nil)
}

// isZlib checks the header of RFC 1950 2.2.
func isZlib(head []byte) bool {
	return len(head) == 2 && head[0]&0x0f == 8 && head[0]>>4 <= 7 && (uint(head[0])<<8|uint(head[1]))%31 == 0
}
