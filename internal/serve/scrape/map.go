package scrape

import (
	"context"
	"time"

	"seine/internal/base/weburl"
	"seine/internal/page/sitemap"
	"seine/internal/run/trial"
	"seine/pkg/crawlspec"
	"seine/pkg/stages/fetcher"
)

// Found is a URL of a site.
type Found struct {
	URL      string    `json:"url"`
	Source   string    `json:"source" enum:"start,link,sitemap,frontier" doc:"Where it was found; frontier: only the crawl knows it."`
	Modified time.Time `json:"modified,omitzero"` // as the sitemap says
	State    string    `json:"state,omitempty" doc:"Where it stands in the crawl, such as queued, done or excluded; absent if the crawl does not know it."`
}

// Map is what a site has, as its sitemaps, one page of it, and a crawl say.
type Map struct {
	URLs     []Found  `json:"urls" nullable:"false"`
	Sitemaps []string `json:"sitemaps" nullable:"false" doc:"Those that were read."`
	// Problems are why some of it could not be read.
	Problems []string `json:"problems,omitempty"`
	// Truncated says that there is more than was asked for, or than is read for one map.
	Truncated bool `json:"truncated,omitempty"`
	// Next is where the next part begins of what a crawl is asked for.
	Next string `json:"next,omitempty" doc:"Give it as cursor to have the next part; absent at the end."`
}

// maxSitemaps bounds the sitemaps that are read for one map: their hosts rest in between.
const maxSitemaps = 10

// MaxURLs is how many URLs a map has at most.
const MaxURLs = 50_000

// Map reads a page and the sitemaps of its host, and returns the URLs that a crawl from there would follow, at most
// so many. It is an error if the page cannot be had; what is wrong with a sitemap is among the problems.
func (s *Scraper) Map(ctx context.Context, spec *crawlspec.Spec, url string, most int) (*Map, error) {
	about := *spec
	about.Sitemaps = true
	first, err := s.fetchURL(ctx, &about, url)
	if err != nil {
		return nil, err
	}
	m := &mapper{Map: Map{URLs: []Found{}, Sitemaps: []string{}}, most: min(most, MaxURLs), seen: make(map[string]bool)}
	m.add(Found{URL: first.Page.URL, Source: "start"})
	read, err := trial.Apply(ctx, first, &about)
	if err != nil {
		return nil, err
	}
	m.links(read)
	if err := m.readSitemaps(ctx, s, &about, first); err != nil {
		return nil, err
	}
	return &m.Map, nil
}

// mapper collects URLs.
type mapper struct {
	Map
	most  int
	bytes int
	seen  map[string]bool
}

// maxMapBytes bounds the URLs of a map: some are kept, see keepSite.
const maxMapBytes = 16 << 20

func (m *mapper) add(f Found) {
	switch {
	case m.seen[f.URL]:
	case len(m.URLs) >= m.most || m.bytes+len(f.URL) > maxMapBytes:
		m.Truncated = true
	default:
		m.seen[f.URL] = true
		m.URLs = append(m.URLs, f)
		m.bytes += len(f.URL)
	}
}

func (m *mapper) links(read *trial.Result) {
	for _, l := range read.Links {
		if l.Excluded == "" {
			m.add(Found{URL: l.URL, Source: "link"})
		}
	}
}

// readSitemaps reads those that robots.txt names, else that at the usual place, and those that they list.
func (m *mapper) readSitemaps(ctx context.Context, s *Scraper, spec *crawlspec.Spec, first *fetcher.Fetched) error {
	left := canonical(first.Sitemaps)
	if len(left) == 0 {
		left = []string{weburl.Origin(first.Page.URL) + "/sitemap.xml"}
	}
	known := make(map[string]bool)
	for ; len(left) > 0; left = left[1:] {
		if known[left[0]] {
			continue
		}
		if len(known) == maxSitemaps || len(m.URLs) >= m.most {
			m.Truncated = true
			return nil
		}
		known[left[0]] = true
		more, err := m.sitemap(ctx, s, spec, left[0])
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			m.Problems = append(m.Problems, err.Error())
		}
		left = append(left, more...)
	}
	return nil
}

// sitemap reads one, and returns those that it lists.
func (m *mapper) sitemap(ctx context.Context, s *Scraper, spec *crawlspec.Spec, url string) (more []string, err error) {
	got, err := s.fetchURL(ctx, spec, url)
	if err != nil {
		return nil, err
	}
	site, err := sitemap.ParseAny(got.Body, got.Page.ContentType)
	if err != nil {
		return nil, &fetcher.FetchError{URL: url, Status: got.Page.Status, Reason: err.Error()}
	}
	m.Sitemaps = append(m.Sitemaps, got.Page.URL)
	m.Truncated = m.Truncated || site.Cut
	for i := range site.Entries {
		e := &site.Entries[i]
		for _, u := range canonical([]string{e.URL}) {
			if site.Index {
				more = append(more, u)
			} else if weburl.Host(u) == weburl.Host(got.Page.URL) {
				m.add(Found{URL: u, Source: "sitemap", Modified: e.Modified})
			}
		}
	}
	return more, nil
}

// canonical are those of some texts that are URLs.
func canonical(texts []string) (urls []string) {
	for _, text := range texts {
		if u, err := weburl.Canonicalize(text); err == nil {
			urls = append(urls, u)
		}
	}
	return urls
}
