package httpclient

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"seine/pkg/crawlspec"
)

// A decoded body is held as long as there is memory for it. Its memory is reused as soon as it is
// released, unless it is too large.
func TestDecodedBodyIsHeldAsLongAsThereIsMemory(t *testing.T) {
	for name, c := range map[string]struct {
		size, memory int
		held, again  bool
	}{
		"small":                 {100 << 10, 64 << 20, true, true},
		"as large as is kept":   {1900 << 10, 64 << 20, true, true},
		"large":                 {5 << 20, 64 << 20, true, false},
		"larger than is loaned": {12 << 20, 64 << 20, false, false},
		"large, little memory":  {5 << 20, 1 << 20, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := bytes.Repeat([]byte("0123456789abcdef"), c.size/16)
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				w.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(w)
				_, _ = z.Write(text)
				_ = z.Close()
			}))
			defer srv.Close()
			f := newClientFixture(t, func(cfg *Config, s *crawlspec.Spec) {
				cfg.MaxInFlightBody, cfg.MaxRatio, s.MaxBody = crawlspec.Bytes(c.memory), 0, 64<<20
			})
			a := f.request(srv.URL + "/")
			a.Object, a.Timeout = "object", time.Minute
			r, err := f.Do(t.Context(), a)
			if err != nil || r.Text != "" {
				t.Fatal(err, r.Text)
			}
			defer r.Release()
			if got := r.Body.Decoded(); c.held != bytes.Equal(got, text) || !c.held && got != nil {
				t.Errorf("%d bytes are held, of %d", len(got), len(text))
			}
			if r.Body.Size != int64(len(text)) {
				t.Errorf("size %d, want %d", r.Body.Size, len(text))
			}
			r.Body.ReleaseDecoded()
			if r.Body.Decoded() != nil {
				t.Error("the body is there after its release")
			}
			if again := len(f.decoded) == 1; again != c.again {
				t.Errorf("its memory is used again: %v, want %v", again, c.again)
			}
		})
	}
}
