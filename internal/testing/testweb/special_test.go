package testweb

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

// fetched is a special answer as a client sees it: at most 2 MB.
type fetched struct {
	*http.Response
	body []byte
	err  error
}

func fetch(t *testing.T, s *Server, path string) fetched {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return fetchCtx(t, ctx, s, path)
}

func fetchCtx(t *testing.T, ctx context.Context, s *Server, path string) fetched {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL(0, "/special/"+path), nil)
	if err != nil {
		t.Fatal(err)
	}
	client := s.Client()
	client.Transport.(*http.Transport).MaxResponseHeaderBytes = 4 << 20
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, 2<<20))
	return fetched{res, body, err}
}

func TestSpecialSizes(t *testing.T) {
	s := Run(t, New(Config{Special: true}))
	cases := []struct {
		path string
		size int
		err  error
	}{
		{"big?mb=1", 1 << 20, nil},
		{"big?mb=100", 2 << 20, nil}, // as far as read
		{"endless", 2 << 20, nil},
		{"empty", 0, nil},
		{"type?t=image/png", 1024, nil},
		{"drip?n=5&ms=1", 5, nil},
		{"badlength", 1000, io.ErrUnexpectedEOF},
		{"badlength?over=1", 5000, nil},
		{"reset", -1, syscall.ECONNRESET},
	}
	for _, c := range cases {
		got := fetch(t, s, c.path)
		if c.size >= 0 && len(got.body) != c.size || !errors.Is(got.err, c.err) {
			t.Errorf("%s: %d bytes, %v; want %d, %v", c.path, len(got.body), got.err, c.size, c.err)
		}
		if got.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d", c.path, got.StatusCode)
		}
	}
}

func TestSpecialStallIsOpenUntilTheClientGoes(t *testing.T) {
	w := New(Config{Special: true})
	s := Run(t, w)
	client := s.Client()
	defer client.CloseIdleConnections()
	res, err := client.Get(s.URL(0, "/special/stall"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if n, err := io.ReadFull(res.Body, make([]byte, 10000)); err != nil {
		t.Fatalf("%d bytes, %v", n, err)
	}
	more := make(chan error, 1)
	go func() {
		_, err := res.Body.Read(make([]byte, 1))
		more <- err
	}()
	const open = 100 * time.Millisecond
	select {
	case err := <-more:
		t.Errorf("after what it sends: %v", err)
	case <-time.After(open):
	}
	_ = res.Body.Close()
	s.Close()
	if r := w.Requests()[0]; r.End.Sub(r.At) < open || r.Bytes != 10000 {
		t.Errorf("log has %+v", r)
	}
}

func TestSpecialOneLine(t *testing.T) {
	s := Run(t, New(Config{Special: true}))
	got := fetch(t, s, "oneline?kb=300")
	if len(got.body) < 290<<10 || len(got.body) > 310<<10 || bytes.ContainsRune(got.body, '\n') {
		t.Errorf("%d bytes, a line break: %v", len(got.body), bytes.ContainsRune(got.body, '\n'))
	}
	at, _ := url.Parse(base0 + "/special/oneline")
	if n := len(pageLinks(t, at, string(got.body))); n != 300 {
		t.Errorf("%d links", n)
	}
}

func TestSpecialCharsets(t *testing.T) {
	s := Run(t, New(Config{Special: true}))
	cases := []struct{ name, contentType, contains string }{
		{"latin1", "text/html; charset=iso-8859-1", "<title>Caf\xe9 d\xe9j\xe0 vu</title>"},
		{"utf16", "text/html", "C\x00a\x00f\x00\xe9\x00"},
		{"shift_jis", "text/html", "<title>\x93\xfa\x96\x7b\x8c\xea</title>"},
		{"wrong", "text/html; charset=utf-8", "Caf\xe9"},
		{"invalid", "text/html; charset=klingon-8", "\xff\xfe"},
	}
	for _, c := range cases {
		got := fetch(t, s, "charset/"+c.name)
		if got.Header.Get("Content-Type") != c.contentType || !strings.Contains(string(got.body), c.contains) {
			t.Errorf("%s: %s %q", c.name, got.Header.Get("Content-Type"), got.body)
		}
		if utf8.Valid(got.body) {
			t.Errorf("%s is valid UTF-8", c.name)
		}
	}
	if got := fetch(t, s, "charset/utf16"); !bytes.HasPrefix(got.body, []byte("\xff\xfe")) {
		t.Error("utf16 without a byte order mark")
	}
}

func TestSpecialEncodings(t *testing.T) {
	s := Run(t, New(Config{Special: true}))
	gunzip := func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }
	cases := []struct {
		path, coding string
		open         func(io.Reader) (io.Reader, error)
		ok           bool
	}{
		{"gzip", "gzip", gunzip, true},
		{"brokengzip", "gzip", gunzip, false},
		{"deflate", "deflate", func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }, true},
		{"deflate?raw=1", "deflate", func(r io.Reader) (io.Reader, error) { return flate.NewReader(r), nil }, true},
	}
	for _, c := range cases {
		got := fetch(t, s, c.path)
		if got.Header.Get("Content-Encoding") != c.coding {
			t.Errorf("%s: %v", c.path, got.Header)
		}
		z, err := c.open(bytes.NewReader(got.body))
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		plain, err := io.ReadAll(z)
		if same := bytes.Equal(plain, encodedPage); (err == nil && same) != c.ok {
			t.Errorf("%s: %v, same page %v", c.path, err, same)
		}
	}
}

func TestSpecialBomb(t *testing.T) {
	s := Run(t, New(Config{Special: true}))
	for _, mb := range []int{1, 2, 20} {
		got := fetch(t, s, "bomb?mb="+string(rune('0'+mb/10))+string(rune('0'+mb%10)))
		z, err := gzip.NewReader(bytes.NewReader(got.body))
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, z) // checks the checksum and the size too
		if err != nil || n != int64(mb)<<20 {
			t.Errorf("%d MB: %d bytes, %v", mb, n, err)
		}
		if len(got.body)*500 > mb<<20 {
			t.Errorf("%d MB in %d bytes is no bomb", mb, len(got.body))
		}
	}
}

func TestSpecialRedirects(t *testing.T) {
	s := Run(t, New(Config{Special: true}))
	hops := func(path string) int {
		for n := range 20 {
			got := fetch(t, s, path)
			if got.StatusCode == http.StatusOK {
				return n
			}
			path = strings.TrimPrefix(got.Header.Get("Location"), specialPrefix)
		}
		return -1
	}
	if got := hops("redirect-chain?n=7"); got != 7 {
		t.Errorf("chain of %d", got)
	}
	if got := hops("redirect-loop"); got != -1 {
		t.Errorf("loop ended after %d", got)
	}
}

func TestSpecialStatusAndHeaders(t *testing.T) {
	s := Run(t, New(Config{Special: true}))
	got := fetch(t, s, "status?code=429&retry_after=7")
	if got.StatusCode != http.StatusTooManyRequests || got.Header.Get("Retry-After") != "7" {
		t.Errorf("%d %v", got.StatusCode, got.Header)
	}
	for code, want := range map[string]int{"204": 204, "304": 304, "100": 200, "": 500, "x": 500} {
		if got := fetch(t, s, "status?code="+code); got.StatusCode != want {
			t.Errorf("code %q: %d", code, got.StatusCode)
		}
	}
	size := 0
	for name, values := range fetch(t, s, "headers?kb=100").Header {
		size += len(name) + len(values[0])
	}
	if size < 100_000 {
		t.Errorf("headers of %d bytes", size)
	}
	if got := fetch(t, s, "type?t=image/png"); got.Header.Get("Content-Type") != "image/png" {
		t.Errorf("type %v", got.Header)
	}
}

func TestSpecialIndexLinksAllThatEnd(t *testing.T) {
	w := New(Config{Special: true})
	s := Run(t, w)
	at, _ := url.Parse(s.URL(0, specialPrefix))
	linked := map[string]bool{}
	for _, to := range pageLinks(t, at, string(fetch(t, s, "").body)) {
		name := strings.TrimPrefix(to.Path, specialPrefix)
		linked[name] = true
		if got := fetch(t, s, strings.TrimPrefix(to.RequestURI(), specialPrefix)); got.StatusCode == 404 &&
			to.Query().Get("code") != "404" {
			t.Errorf("%s: 404", to)
		}
	}
	for name := range specials {
		if endless := name == "endless" || name == "stall"; linked[name] == endless {
			t.Errorf("%q linked: %v", name, linked[name])
		}
	}
	if res := get(New(Config{}), base0+specialPrefix); res.Code != http.StatusNotFound {
		t.Errorf("without Special: %d", res.Code)
	}
}
