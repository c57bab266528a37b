package contentcoding

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
	brotli "github.com/molecule-man/go-brrr"
)

var encoders = map[string]func(io.Writer) (io.WriteCloser, error){
	"gzip":    func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
	"deflate": func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil },
	"raw":     func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 6) },
	"br":      func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriter(w, 5) },
	"zstd":    func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
}

func encode(t *testing.T, coding string, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := encoders[coding](&b)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(text)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode(r io.Reader, coding string) ([]byte, error) {
	if coding == "raw" {
		coding = "deflate"
	}
	z := NewReader(r, []string{coding}, 0)
	text, err := io.ReadAll(z)
	return text, errors.Join(err, z.Close())
}

// A body is decoded however it is split into reads. As in browsers, bytes after its end are
// harmless, except after zstd.
func TestBodyIsDecodedHoweverItArrives(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for coding := range encoders {
		for range 12 {
			text := make([]byte, 1+r.IntN(50_000))
			for i := range text {
				text[i] = "abcdefgh <>"[r.IntN(11)]
			}
			body := encode(t, coding, text)
			ways := map[string]io.Reader{
				"at once":       bytes.NewReader(body),
				"byte by byte":  iotest.OneByteReader(bytes.NewReader(body)),
				"in halves":     iotest.HalfReader(bytes.NewReader(body)),
				"end with data": iotest.DataErrReader(bytes.NewReader(body)),
			}
			if coding != "zstd" {
				ways["bytes after it"] = bytes.NewReader(append(bytes.Clone(body), "no coding"...))
			}
			for last := 1; last <= min(16, len(body)-1); last++ {
				at := len(body) - last
				ways[fmt.Sprint("last bytes apart: ", last)] = io.MultiReader(bytes.NewReader(body[:at]), bytes.NewReader(body[at:]))
			}
			for way, from := range ways {
				if got, err := decode(from, coding); err != nil || !bytes.Equal(got, text) {
					t.Errorf("%s, %s: %d bytes (%v), want %d", coding, way, len(got), err, len(text))
				}
			}
		}
	}
}

// A truncated body is an error, wherever it was cut.
func TestBodyThatIsCutShort(t *testing.T) {
	t.Parallel()
	text := bytes.Repeat([]byte("The river runs on and on. "), 40)
	for coding := range encoders {
		body := encode(t, coding, text)
		for n := 1; n < len(body); n++ {
			if got, err := decode(bytes.NewReader(body[:n]), coding); err == nil {
				t.Errorf("%s: %d of %d bytes decode to %d without an error", coding, n, len(body), len(got))
			}
		}
	}
}
