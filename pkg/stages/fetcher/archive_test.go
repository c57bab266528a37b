package fetcher

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"seine/internal/testing/rawserver"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

func gzipped(body []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(body) // a bytes.Buffer accepts everything
	_ = z.Close()
	return b.Bytes()
}

func archived(_ *Config, s *crawlspec.Spec, _ *testweb.Config) {
	s.Archive, s.Robots = true, crawlspec.RobotsIgnore
}

// An archived page is the exchange in its wire form: with the order and the spelling of fields,
// without 1xx responses, and with the encoded body.
func TestArchiveIsWhatWentOverTheWire(t *testing.T) {
	zipped := gzipped([]byte("hello, archive"))
	head := "HTTP/1.1 200 Fine by me\r\nx-ODD:  spelt\r\nContent-Type: text/html\r\nA: 1\r\nSet-Cookie: id=1\r\nA: 2\r\n" +
		"Content-Encoding: gzip\r\nContent-Length: " + fmt.Sprint(len(zipped)) + "\r\n\r\n"
	r := rawserver.New(t, func(int) (string, bool) {
		return "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + head + string(zipped), true
	})
	s := newFetcherFixture(t, archived)
	for _, path := range []string{"/a?b", "/again"} { // on a connection that is used again, too
		h := s.get(r.URL + path)
		h.wants(t, messages.OK)
		request, gotHead, body, err := h.page.Split(pageOf(t, h))
		if err != nil {
			t.Fatal(err)
		}
		if string(gotHead) != head {
			t.Errorf("head\n%s\nwant\n%s", gotHead, head)
		}
		if want := "GET " + path + " HTTP/1.1\r\nHost: " + strings.TrimPrefix(r.URL, "http://") + "\r\nUser-Agent: "; !strings.HasPrefix(string(request), want) {
			t.Errorf("request\n%s\nwant\n%s…", request, want)
		}
		if h.page.BodyEncoding != "gzip" || !bytes.Equal(body, zipped) || h.page.BodySize != int64(len("hello, archive")) {
			t.Errorf("body in %q, %d bytes (%d decoded)", h.page.BodyEncoding, len(body), h.page.BodySize)
		}
		if h.BytesBody != h.page.BodySize || h.BytesWire != int64(len(zipped)) {
			t.Errorf("result says %d bytes, %d on the wire", h.BytesBody, h.BytesWire)
		}
		if h.page.Header["Set-Cookie"] != nil {
			t.Error("the fields that all may see hold a cookie")
		}
	}
}

// pageOf returns the payload of the page's message.
func pageOf(t *testing.T, h handled) []byte {
	t.Helper()
	for _, m := range h.out.First {
		if m.Header.Get(messages.HeaderPage) != "" {
			return m.Data
		}
	}
	t.Fatal("no page")
	return nil
}

// HTTP/2 has no text form to keep: it is written in the form of HTTP/1.1.
func TestArchiveOfHTTP2(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "two")
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	s := withSpec(t, "archive: true\ntls: {insecure: true}")
	h := s.get(srv.URL + "/")
	h.wants(t, messages.OK)
	request, head, body, err := h.page.Split(pageOf(t, h))
	if err != nil {
		t.Fatal(err)
	}
	if h.page.Protocol != "HTTP/2.0" || !strings.HasPrefix(string(head), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n") ||
		!strings.HasPrefix(string(request), "GET / HTTP/1.1\r\n") || string(body) != "two" {
		t.Errorf("%s\n%s%s%s", h.page.Protocol, request, head, body)
	}
}

// A large body goes to the object store while it arrives, and can be read completely.
func TestLargeBodiesAreStoredWhileTheyCome(t *testing.T) {
	random := make([]byte, 3<<20)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(random)              // it never fails
	text := hex.AppendEncode(nil, random[:2*messages.InlineBody]) // it is still large when compressed
	for name, c := range map[string]struct {
		body   []byte
		zipped bool
	}{
		"random": {random, false}, "text": {text, false}, "text in gzip": {text, true}, "random in gzip": {random, true},
	} {
		sent := c.body
		if c.zipped {
			sent = gzipped(c.body)
		}
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			if c.zipped {
				w.Header().Set("Content-Encoding", "gzip")
			}
			_, _ = w.Write(sent)
		}))
		t.Cleanup(srv.Close)
		for _, archive := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, archive %v", name, archive), func(t *testing.T) {
				s := newFetcherFixture(t, archived, func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) { s.Archive = archive })
				h := s.get(srv.URL + "/")
				h.wants(t, messages.OK)
				if strings.HasPrefix(name, "random") && h.page.BodyObject == "" {
					t.Error("the body is in the message")
				}
				if !bytes.Equal(h.body, c.body) {
					t.Errorf("%d bytes came back, want %d", len(h.body), len(c.body))
				}
				if archive && h.page.BodyEncoding != map[bool]string{true: "gzip"}[c.zipped] {
					t.Errorf("body encoding %q", h.page.BodyEncoding)
				}
				if h.Digest == "" {
					t.Error("no digest")
				}
			})
		}
	}
}

// A body that fails while it is stored leaves nothing behind.
func TestLargeBodyThatBreaks(t *testing.T) {
	for name, c := range map[string]struct {
		reply string
		want  messages.Class
	}{
		"cut short": {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9000000\r\n\r\n", messages.ProtocolError},
		"too large": {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", messages.TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			filler := strings.Repeat("0123456789abcdef", 4<<20/16)
			r := rawserver.New(t, func(int) (string, bool) { return c.reply + filler, false })
			s := newFetcherFixture(t, ignoreRobots, func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) {
				if c.want == messages.TooLarge {
					s.MaxBody = 3 << 20
				}
			})
			s.get(r.URL+"/").wants(t, c.want)
			objects, err := s.bus.JS.ObjectStore(t.Context(), messages.BucketBodies)
			if err != nil {
				t.Fatal(err)
			}
			if all, err := objects.List(t.Context()); err == nil {
				t.Errorf("%d objects are left", len(all))
			}
		})
	}
}
