package httpclient

import (
	"crypto/x509"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"seine/internal/testing/rawserver"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// The exact bytes that a site receives for a page under the default spec: build_request.go
// documents the source of each field. Neither net/http nor Seine may add anything else.
func TestPlainGETHasExactlyTheseBytes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*Request)
		added  string // after the fields of every request
	}{
		"page":                           {func(*Request) {}, ""},
		"robots.txt":                     {func(a *Request) { a.Robots = true }, ""},
		"not to be sent again":           {func(a *Request) { a.NoResend = true }, ""},
		"archived":                       {func(a *Request) { a.Archive = true }, ""},
		"page that was fetched before":   {func(a *Request) { a.ETag = `"v1"` }, "If-None-Match: \"v1\"\r\n"},
		"page that had a time of change": {func(a *Request) { a.LastModified = "Mon, 01 Jan 2024 00:00:00 GMT" }, "If-Modified-Since: Mon, 01 Jan 2024 00:00:00 GMT\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newClientFixture(t)
			r := rawserver.New(t, func(int) (string, bool) { return okReply, true })
			a := s.request(r.URL + "/a?b=c")
			c.change(a)
			s.do(a).wants(t, messages.OK)
			want := "GET /a?b=c HTTP/1.1\r\n" +
				"Host: " + strings.TrimPrefix(r.URL, "http://") + "\r\n" +
				"User-Agent: " + crawlspec.DefaultUserAgent + "\r\n" +
				"Accept: text/html,application/xhtml+xml,text/plain,*/*;q=0.1\r\n" +
				"Accept-Encoding: gzip, deflate, br, zstd\r\n" +
				c.added + "\r\n"
			if got := r.Heads(); len(got) != 1 || got[0] != want {
				t.Errorf("sent %q\nwant %q", got, want)
			}
		})
	}
}

func TestPlainGETHasTheSameFieldsByHTTP2(t *testing.T) {
	t.Parallel()
	s := newClientFixture(t)
	got := make(chan *http.Request, 1)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r
		w.Header().Set("Content-Type", "text/html")
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	s.pools.tls.RootCAs = x509.NewCertPool()
	s.pools.tls.RootCAs.AddCert(srv.Certificate())
	s.get(srv.URL+"/a").wants(t, messages.OK)
	r := <-got
	want := http.Header{
		"User-Agent": {crawlspec.DefaultUserAgent}, "Accept": {"text/html,application/xhtml+xml,text/plain,*/*;q=0.1"},
		"Accept-Encoding": {"gzip, deflate, br, zstd"},
	}
	same := maps.EqualFunc(r.Header, want, func(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") })
	if r.Proto != "HTTP/2.0" || r.Method != http.MethodGet || r.ContentLength != 0 || !same {
		t.Errorf("sent %s %s of %d bytes with %q, want %q", r.Proto, r.Method, r.ContentLength, r.Header, want)
	}
	s.Close()
}
