package secrets

import (
	"io"
	"slices"
)

// readBuffer is how much Reader reads at a time.
const readBuffer = 32 << 10

// Reader returns r with the secrets overwritten in what is read: r itself if there
// is nothing to look for. Each value counts that was added before.
func (m *Mask) Reader(r io.Reader) io.Reader {
	v := m.active()
	if v == nil {
		return r
	}
	return &reader{src: r, values: v, buf: make([]byte, 0, readBuffer)}
}

// reader masks what it reads. It holds back what may be the beginning of a secret
// until it has read on.
type reader struct {
	src    io.Reader
	values *values
	buf    []byte
	read   int   // bytes of buf that have been read
	done   int   // bytes of buf that are final
	err    error // of src, told when all of buf has been read
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

// fill reads once, and masks what is there.
func (r *reader) fill() {
	r.buf = r.buf[:copy(r.buf, r.buf[r.done:])]
	r.buf = slices.Grow(r.buf, 1) // what is held back may be as long as the buffer
	n, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
	r.buf, r.err = r.buf[:len(r.buf)+n], err
	r.read, r.done = 0, r.values.mask(r.buf, err != nil).done
}
