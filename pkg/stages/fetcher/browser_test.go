package fetcher

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// A robots.txt with a faulty header is read: otherwise its host would be off limits.
func TestOddHeadersOfRobotsCloseNoHost(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	for _, header := range []http.Header{
		{"Content-Encoding": {"UTF-8"}}, {"Content-Encoding": {"none"}}, {"Content-Type": {"*/*"}}, {"Content-Type": {"html"}},
		{"Content-Type": {"image/png"}}, {"Content-Encoding": {"utf-8"}, "Content-Type": {"; charset=utf-8"}},
	} {
		site := serve(t, map[string]answer{
			"/robots.txt": {header: header, body: "User-agent: *\nDisallow: /closed\n"},
			"/open":       {header: http.Header{"Content-Type": {"text/html"}}, body: "<title>open</title>"},
		})
		s.get(site+"/open").wants(t, messages.OK)
		s.get(site+"/closed").wants(t, messages.RobotsDenied)
	}
}

// answer is a site's response for a path.
type answer struct {
	status int // 0 for 200
	header http.Header
	body   string
}

// serve runs a site, and returns its URL without a path.
func serve(t *testing.T, site map[string]answer) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := site[r.URL.Path]
		for name, values := range a.header {
			w.Header()[name] = values
		}
		if a.status > 0 {
			w.WriteHeader(a.status)
		}
		_, _ = w.Write([]byte(a.body))
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// A server identifies a URL by the bytes that it wrote, whatever their encoding: a redirect, a Link
// header and a sitemap in robots.txt must lead back to it.
func TestBytesOfURLsAreKept(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) { s.Sitemaps = true })
	site := serve(t, map[string]answer{
		"/robots.txt": {body: "Sitemap: /caf\xe9.xml"},
		"/": {header: http.Header{
			"Link": {"</caf\xe9>; rel=next"}, "Refresh": {"0; url=/caf\xe9"}, "Content-Type": {"text/html"},
		}},
		"/moved": {status: http.StatusMovedPermanently, header: http.Header{"Location": {"/caf\xe9?\xe8=caf\xc3\xa9"}}},
	})
	m, req := requestMessage(site + "/")
	out, err := s.handle(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	out.Free()
	out.Done()
	for _, m := range out.First {
		if m.Header.Get(messages.HeaderPage) == "" {
			if !strings.Contains(string(m.Data), `"`+site+`/caf%E9.xml"`) {
				t.Errorf("sitemap: %s", m.Data)
			}
			continue
		}
		page, err := messages.DecodePage(m.Header)
		if err != nil {
			t.Fatal(err)
		}
		if page.Header["Link"][0] != "</caf%E9>; rel=next" || page.Header["Refresh"][0] != "0; url=/caf%E9" || page.URL != req.URL {
			t.Errorf("header %q", page.Header)
		}
	}
	h := s.get(site + "/moved")
	h.wants(t, messages.Redirect)
	if want := site + "/caf%E9?%E8=caf%C3%A9"; h.Location != want {
		t.Errorf("leads to %s, want %s", h.Location, want)
	}
}
