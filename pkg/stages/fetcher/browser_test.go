package fetcher

import (
	"fmt"
	"strings"
	"testing"

	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

const shownPage = "<!DOCTYPE html><title>shown</title>"

// A header that is not as it should be is read as browsers read it: by the last type
// that is one, otherwise by the bytes, and past codings that are none.
func TestPagesThatBrowsersShowAreKept(t *testing.T) {
	t.Parallel()
	zipped := string(gzipped([]byte(shownPage)))
	plain := newFetcherFixture(t, ignoreRobots)
	archive := newFetcherFixture(t, ignoreRobots, func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) { s.Archive = true })
	binary := "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00", 100)
	for name, c := range map[string]struct {
		fields, body string
		want         messages.Class
		contentType  string
	}{
		"the type twice":            {"Content-Type: text/html, text/html; charset=utf-8", shownPage, messages.OK, "text/html, text/html; charset=utf-8"},
		"two fields":                {"Content-Type: application/x-junk\r\nContent-Type: text/html", shownPage, messages.OK, "application/x-junk, text/html"},
		"the last type counts":      {"Content-Type: text/html, application/zip", shownPage, messages.UnsupportedType, ""},
		"any type after one":        {"Content-Type: text/html, */*", shownPage, messages.OK, "text/html, */*"},
		"no semicolon":              {"Content-Type: text/html charset=utf-8", shownPage, messages.OK, "text/html charset=utf-8"},
		"capitals and quotes":       {`Content-Type: "Text/HTML"`, shownPage, messages.OK, `"Text/HTML"`},
		"a charset alone":           {"Content-Type: ; charset=windows-1251", shownPage, messages.OK, "text/html; charset=windows-1251"},
		"any type":                  {"Content-Type: */*", shownPage, messages.OK, "text/html"},
		"half a type":               {"Content-Type: html", shownPage, messages.OK, "text/html"},
		"half a type with charset":  {"Content-Type: html; charset=utf-8", shownPage, messages.OK, "text/html; charset=utf-8"},
		"no subtype":                {"Content-Type: text/", shownPage, messages.OK, "text/html"},
		"unknown":                   {"Content-Type: unknown/unknown", shownPage, messages.OK, "text/html"},
		"application/unknown":       {"Content-Type: application/unknown", shownPage, messages.OK, "text/html"},
		"no type":                   {"Content-Type:", shownPage, messages.OK, "text/html"},
		"an image of any type":      {"Content-Type: */*", binary, messages.UnsupportedType, ""},
		"an image of half a type":   {"Content-Type: html", binary, messages.UnsupportedType, ""},
		"a download":                {"Content-Type: application/octet-stream", shownPage, messages.UnsupportedType, ""},
		"charset as coding":         {"Content-Type: text/html\r\nContent-Encoding: UTF-8", shownPage, messages.OK, "text/html"},
		"no coding":                 {"Content-Type: text/html\r\nContent-Encoding: none", shownPage, messages.OK, "text/html"},
		"another charset as coding": {"Content-Type: text/html\r\nContent-Encoding: iso-8859-1", shownPage, messages.OK, "text/html"},
		"binary as coding":          {"Content-Type: text/html\r\nContent-Encoding: binary", shownPage, messages.OK, "text/html"},
		"a coding and none":         {"Content-Type: text/html\r\nContent-Encoding: gzip, none", zipped, messages.OK, "text/html"},
		"a charset and a coding":    {"Content-Type: text/html\r\nContent-Encoding: utf-8\r\nContent-Encoding: x-gzip", zipped, messages.OK, "text/html"},
		"a coding that exists":      {"Content-Type: text/html\r\nContent-Encoding: x-compress", "x", messages.BadEncoding, ""},
	} {
		for _, s := range []*fetcherFixture{plain, archive} {
			r := newRaw(t, func(int) (string, bool) {
				return fmt.Sprintf("HTTP/1.1 200 OK\r\n%s\r\nContent-Length: %d\r\n\r\n%s", c.fields, len(c.body), c.body), true
			})
			h := s.get(r.url + "/")
			h.wants(t, c.want)
			if c.want == messages.OK && (string(h.body) != shownPage || h.page.ContentType != c.contentType) {
				t.Errorf("%s: %q of type %s, want %s", name, h.body, h.page.ContentType, c.contentType)
			}
		}
	}
}

// A robots.txt whose header says such things is read: otherwise its host would be
// closed.
func TestOddHeadersOfRobotsCloseNoHost(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	const file = "User-agent: *\nDisallow: /closed\n"
	for _, fields := range []string{
		"Content-Encoding: UTF-8", "Content-Encoding: none", "Content-Type: */*", "Content-Type: html", "Content-Type: image/png",
		"Content-Encoding: utf-8\r\nContent-Type: ; charset=utf-8",
	} {
		r := newRaw(t, func(n int) (string, bool) {
			if n == 1 {
				return fmt.Sprintf("HTTP/1.1 200 OK\r\n%s\r\nContent-Length: %d\r\n\r\n%s", fields, len(file), file), true
			}
			return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(shownPage), shownPage), true
		})
		s.get(r.url+"/open").wants(t, messages.OK)
		s.get(r.url+"/closed").wants(t, messages.RobotsDenied)
	}
}

// A server knows a URL by the bytes that it wrote, whatever they encode: they lead back
// to it from a redirect, a link of the header, and a sitemap in robots.txt.
func TestBytesOfURLsAreKept(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) { s.Sitemaps = true })
	head := "HTTP/1.1 200 OK\r\nLink: </caf\xe9>; rel=next\r\nRefresh: 0; url=/caf\xe9\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n"
	const file = "Sitemap: /caf\xe9.xml"
	r := newRaw(t, func(n int) (string, bool) {
		return []string{
			fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(file), file), head,
			"HTTP/1.1 301 Moved\r\nLocation: /caf\xe9?\xe8=caf\xc3\xa9\r\nContent-Length: 0\r\n\r\n",
		}[n-1], true
	})
	m, req := requestMessage(r.url + "/")
	out, err := s.handle(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	out.Free()
	out.Done()
	for _, m := range out.First {
		if m.Header.Get(messages.HeaderPage) == "" {
			if !strings.Contains(string(m.Data), `"`+r.url+`/caf%E9.xml"`) {
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
	h := s.get(r.url + "/moved")
	h.wants(t, messages.Redirect)
	if want := r.url + "/caf%E9?%E8=caf%C3%A9"; h.Location != want {
		t.Errorf("leads to %s, want %s", h.Location, want)
	}
}
