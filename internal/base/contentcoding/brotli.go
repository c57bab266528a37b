package contentcoding

import (
	"errors"
	"io"

	brotli "github.com/molecule-man/go-brrr"
)

// brotliDecoder decodes brotli. It ignores bytes after the end of the stream, as browsers do.
type brotliDecoder struct{ *brotli.Reader }

func (d brotliDecoder) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	if errors.Is(err, brotli.ErrExcessiveInput) {
		err = io.EOF
	}
	return n, err
}

// Reset resets the decoder. It does not read from r.
func (d brotliDecoder) Reset(r io.Reader) error {
	d.Reader.Reset(r)
	return nil
}
