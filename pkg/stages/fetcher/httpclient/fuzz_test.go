package httpclient

import (
	"bytes"
	"io"
	"testing"

	"seine/internal/base/weburl"
)

// FuzzTarget checks that the request line holds only the path of the canonical URL, or the whole
// URL.
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

// FuzzHead checks that net/http gets the same bytes, and the same head is recorded, however a
// response is cut into reads. The bytes of the body are unchanged, and a cleaned head is clean.
func FuzzHead(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody"), 3)
	f.Add([]byte("\r\nHTTP/1.1 103 Early Hints\r\nno colon\r\n\r\n\nHTTP/1.1 200 OK\r\nA\xe2\x80\x90: b\r\n\r\nbody\r\nno colon\r\n\r\n"), 1)
	f.Add([]byte("HTTP/1.1 200 OK\nA: b\x00\n\nbody\n\n"), 2)
	f.Add([]byte("HTTP/1.1 100 C\n\r\nHTTP/1.1 101 S\r\n\r\n\x00"), 7)
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\nok"), 5)
	f.Fuzz(func(t *testing.T, response []byte, size int) {
		whole, noted := received(response, len(response))
		cut, again := received(response, size)
		if !bytes.Equal(whole, cut) || !bytes.Equal(noted, again) {
			t.Errorf("in one: %q %q\nin pieces of %d: %q %q", whole, noted, size, cut, again)
		}
		if noted == nil {
			return
		}
		at := bytes.LastIndex(response, noted)
		if at < 0 || interim(noted) {
			t.Fatalf("%q is not the head of %q", noted, response)
		}
		status, fields, _ := bytes.Cut(noted, []byte{'\n'})
		clean := append(append(bytes.Clone(status), '\n'), cleanFields(fields)...)
		if body := response[bytes.Index(response, noted)+len(noted):]; !bytes.HasSuffix(whole, append(clean, body...)) && bytes.Count(response, noted) == 1 {
			t.Errorf("%q became %q", response, whole)
		}
		if twice := cleanFields(clean[len(status)+1:]); !bytes.HasSuffix(clean, twice) || len(twice) != len(clean)-len(status)-1 {
			t.Errorf("%q, cleaned again %q", clean, twice)
		}
	})
}

// received returns what net/http reads of a response that arrives in pieces, and the recorded head.
func received(response []byte, size int) (read, noted []byte) {
	r := headReader{reading: true}
	for rest := response; r.reading && len(rest) > 0; {
		n := min(len(rest), max(1, size))
		if final := r.take(rest[:n], nil); final != nil {
			noted = bytes.Clone(final)
		}
		if rest = rest[n:]; !r.reading {
			r.ready = append(r.ready, rest...)
		}
	}
	if r.reading {
		r.take(nil, io.EOF)
	}
	return r.ready, noted
}
