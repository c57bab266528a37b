package fetcher

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// The sitemaps of robots.txt are sent to the frontier with the first result of an origin, whichever
// fetcher fetched the file, and not again.
func TestSitemapsOfRobotsAreFollowed(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) { s.Sitemaps = true })
	s.web.Handle(0, "/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "Sitemap: /one.xml\nUser-agent: *\nDisallow: /no\nSitemap: https://other.example/two.xml.gz\nSitemap: http://[\n")
	})
	want := []string{s.url("/one.xml"), "https://other.example/two.xml.gz"}
	for _, f := range s.fleet(2) {
		if got := f.sitemapsWith(s.url("/special/ok")); !slices.Equal(got, want) {
			t.Errorf("told of %q, want %q", got, want)
		}
		if got := f.sitemapsWith(s.url("/special/empty")); len(got) > 0 {
			t.Errorf("told of %q again", got)
		}
	}
}

func TestSitemapsAreLeftAloneByDefault(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	s.web.Handle(0, "/robots.txt", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "Sitemap: /one.xml\n") })
	if got := s.sitemapsWith(s.url("/special/ok")); len(got) > 0 {
		t.Errorf("told of %q", got)
	}
}

// sitemapsWith fetches a page and returns the sitemaps sent to the frontier.
func (s *fetcherFixture) sitemapsWith(url string) (urls []string) {
	s.t.Helper()
	m, req := requestMessage(url)
	out, err := s.handle(s.t.Context(), m)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range out.First {
		if m.Header.Get(messages.HeaderPage) != "" {
			continue
		}
		c, err := messages.DecodeCandidates(m.Data)
		if err != nil {
			s.t.Fatal(err)
		}
		if c.Depth != req.Depth || c.Source != messages.SourceLink {
			s.t.Errorf("%+v", c)
		}
		urls = append(urls, c.URLs[0].URL)
	}
	if out.Done != nil {
		out.Done()
	}
	return urls
}

// TestNamedTypesAreKept: a feed or sitemap is accepted if a seed or robots.txt names it, and not if
// a page links to it.
func TestNamedTypesAreKept(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	for _, contentType := range []string{"application/rss+xml", "application/atom+xml; charset=utf-8", "text/xml", "application/xml", "application/gzip", "application/feed+json"} {
		s.web.Handle(0, "/named", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			fmt.Fprint(w, "<rss/>")
		})
		seed, sitemap, link := request(s.url("/named")), request(s.url("/named")), request(s.url("/named"))
		seed.Depth, sitemap.Sitemap = 0, true
		s.handle1(seed, 1).wants(t, messages.OK)
		s.handle1(sitemap, 1).wants(t, messages.OK)
		s.handle1(link, 1).wants(t, messages.UnsupportedType)
	}
	s.web.Handle(0, "/named", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		fmt.Fprint(w, "x")
	})
	seed := request(s.url("/named"))
	seed.Depth = 0
	s.handle1(seed, 1).wants(t, messages.UnsupportedType)
}
