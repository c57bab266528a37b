package fetcher

import (
	"maps"
	"net/http"
	"testing"

	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// The sitemap mark of a URL is passed on to its page, to the target of a redirect, and to the
// sitemaps in robots.txt.
func TestSitemapsAreMarked(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{false, true} {
		s := newFetcherFixture(t, func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) { s.Sitemaps = true })
		s.web.Handle(0, "/robots.txt", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("Sitemap: /urls\n")) })
		s.web.Handle(0, "/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/there", http.StatusFound) })
		for path, inRobots := range map[string]string{"/": "/urls", "/moved": "/urls"} {
			req := request(s.url(path))
			req.Sitemap = known
			out, err := s.handle(t.Context(), messageOf(req))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range out.First {
				if m.Header.Get(messages.HeaderPage) != "" {
					if p, err := messages.DecodePage(m.Header); err != nil || p.Sitemap != known {
						t.Errorf("known %v: the page has %+v, %v", known, p, err)
					}
					continue
				}
				c, err := messages.DecodeCandidates(m.Data)
				if err != nil || c.URLs[0].Sitemap != (known || c.URLs[0].URL == s.url(inRobots)) {
					t.Errorf("known %v: %+v, %v", known, c, err)
				}
			}
			if out.Free != nil {
				out.Free()
			}
		}
	}
}

// The metadata of a request is passed on to its page, and to the target of a redirect; sitemaps in
// robots.txt have it if it is inherited.
func TestMetadataIsHandedOn(t *testing.T) {
	t.Parallel()
	want := messages.Metadata{"customer": "17"}
	for _, inherit := range []bool{false, true} {
		s := newFetcherFixture(t, func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) { s.Sitemaps = true })
		s.web.Handle(0, "/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("Sitemap: /sitemap.xml\n"))
		})
		s.web.Handle(0, "/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/there", http.StatusFound) })
		req := request(s.url("/"))
		req.Metadata, req.Inherit = want, inherit
		out, err := s.handle(t.Context(), messageOf(req))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, m := range out.First {
			if m.Header.Get(messages.HeaderPage) == "" {
				c, err := messages.DecodeCandidates(m.Data)
				if err != nil || (c.Metadata != nil) != inherit || c.Inherit != inherit {
					t.Errorf("inherited %v: the sitemap is found as %+v, %v", inherit, c, err)
				}
				found = true
				continue
			}
			p, err := messages.DecodePage(m.Header)
			if err != nil || !maps.Equal(p.Metadata, want) || p.Inherit != inherit {
				t.Errorf("the page has %+v, %v", p, err)
			}
		}
		if out.Free != nil {
			out.Free()
		}
		out.Done() // so that the sitemap is not found again
		if !found {
			t.Error("no sitemap was found")
		}
		req = request(s.url("/moved"))
		req.Metadata, req.Inherit = want, inherit
		if u := s.handle1(req, 1).urls; u == nil || !maps.Equal(u.Metadata, want) || u.Inherit != inherit {
			t.Errorf("where it redirects to has %+v", u)
		}
	}
}
