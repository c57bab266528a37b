package secrets

import (
	"io"
	"slices"
)

// readBuffer is the buffer size of Reader.
const readBuffer = 32 << 10

// Reader returns r with the secrets overwritten: r itself if the mask has no values. It masks the
// values that were added before the call.
func (m *Mask) Reader(r io.Reader) io.Reader {
	v := m.active()
	if v == nil {
		return r
	}
	return &reader{src: r, values: v, buf: make([]byte, 0, readBuffer)}
}

// reader masks the data that it reads. It holds back the possible beginning of a secret until it
// has read further.
type reader struct {
	src    io.Reader
	values *values
	buf    []byte
	read   int   // bytes of buf that were returned
	done   int   // bytes of buf that are final
	err    error // error of src, returned when all of buf was returned
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	for r.read == r.done && len(p) > 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.fill()
	}
	n := copy(p, r.buf[r.read:r.done])
	r.read += n
	return n, nil
}

// fill reads once, and masks the buffer.
func (r *reader) fill() {
	r.buf = r.buf[:copy(r.buf, r.buf[r.done:])]
	r.buf = slices.Grow(r.buf, 1) // the held-back part may be as long as the buffer
	n, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
	r.buf, r.err = r.buf[:len(r.buf)+n], err
	r.read, r.done = 0, r.values.mask(r.buf, err != nil).done
}
