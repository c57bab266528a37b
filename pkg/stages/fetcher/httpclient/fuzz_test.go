package httpclient

import (
	"bytes"
	"testing"

	"seine/internal/base/weburl"
)

// FuzzTarget: the request line holds the path of the canonical URL and nothing
// else, or the whole URL.
func FuzzTarget(f *testing.F) {
	for _, path := range []string{"/", "//", "//a|b", "/%zz?%zz", "//%zz", "/a?b?c", "//a?|", "/*", "//*"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		url, err := weburl.Canonicalize("http://h.example/" + path)
		if err != nil {
			return
		}
		if got := target(url).RequestURI(); got != weburl.Path(url) && got != url {
			t.Errorf("%s: sends %s", url, got)
		}
	})
}

// FuzzNotes: however a response is cut into reads, the same head is noted: that
// of the first that is not interim, and nothing of what follows it.
func FuzzNotes(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody"), 3)
	f.Add([]byte("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"), 1)
	f.Add([]byte("HTTP/1.1 200 OK\nA: b\n\nbody\n\n"), 2)
	f.Add([]byte("HTTP/1.1 100 C\n\r\nHTTP/1.1 101 S\r\n\r\n\x00"), 7)
	f.Fuzz(func(t *testing.T, response []byte, size int) {
		if len(response) > 4<<10 {
			return // net/http reads no more at a time
		}
		whole, cut := &wireCapture{most: 1 << 16}, &wireCapture{most: 1 << 16}
		whole.received(response)
		for rest := response; len(rest) > 0; {
			n := min(len(rest), max(1, size))
			cut.received(rest[:n])
			rest = rest[n:]
		}
		_, want := whole.heads()
		_, got := cut.heads()
		if !bytes.Equal(got, want) {
			t.Errorf("in one: %q\nin pieces of %d: %q", want, size, got)
		}
		if want != nil && (interim(want) || !bytes.Contains(response, want)) {
			t.Errorf("%q is not the head of %q", want, response)
		}
	})
}
