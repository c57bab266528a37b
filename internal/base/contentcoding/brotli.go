package contentcoding

import (
	"errors"
	"io"

	brotli "github.com/molecule-man/go-brrr"
)

// unbrotli reads brotli. What follows the end is ignored, as browsers do.
type unbrotli struct{ *brotli.Reader }

func (u unbrotli) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	if errors.Is(err, brotli.ErrExcessiveInput) {
		err = io.EOF
	}
	return n, err
}

// Reset does not read.
func (u unbrotli) Reset(r io.Reader) error {
	u.Reader.Reset(r)
	return nil
}
