package contentcoding

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

// members decodes the members of a gzip stream. It ignores data after a complete member that is not
// another member, as browsers do.
type members struct {
	gzip.Reader
	src *bufio.Reader
}

// gzipMagic is the start of each member (RFC 1952 2.3.1).
const gzipMagic = "\x1f\x8b\x08"

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.Reader.Read(p)
		if n > 0 && errors.Is(err, io.EOF) {
			return n, nil // the data belongs to the member that ended
		}
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		head, err := m.src.Peek(len(gzipMagic))
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if string(head) != gzipMagic {
			return 0, io.EOF
		}
		if err := m.Reset(m.src); err != nil {
			return 0, err
		}
	}
}

// Reset requires a *bufio.Reader, to look ahead.
func (m *members) Reset(r io.Reader) error {
	m.src = r.(*bufio.Reader)
	err := m.Reader.Reset(m.src)
	m.Multistream(false)
	return err
}

var _ decoder = (*members)(nil)
