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
	Modified time.Time `json:"modified,omitzero"` // according to the sitemap
	State    string    `json:"state,omitempty" doc:"Where it stands in the crawl, such as queued, done or excluded; absent if the crawl does not know it."`
}

// Map is the URLs of a site, from its sitemaps, one page of it, and a crawl.
type Map struct {
	URLs     []Found  `json:"urls" nullable:"false"`
	Sitemaps []string `json:"sitemaps" nullable:"false" doc:"Those that were read."`
	// Problems are errors of its parts.
	Problems []string `json:"problems,omitempty"`
	// Truncated is set if there are more URLs than requested, or than one map may have.
	Truncated bool `json:"truncated,omitempty"`
	// Next is the cursor of the next page, for maps with a crawl.
	Next string `json:"next,omitempty" doc:"Give it as cursor to have the next part; absent at the end."`
}

// maxSitemaps bounds the sitemaps of one map, because the delay of the host applies between them.
const maxSitemaps = 10

// MaxURLs bounds the URLs of a map.
const MaxURLs = 50_000

// Map reads a page and the sitemaps of its host, and returns up to most URLs that a crawl from
// there would follow. An error of the page is an error; errors of sitemaps are problems of the map.
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

// maxMapBytes bounds the URLs of a map, because some maps are cached; see keepSite.
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

// readSitemaps reads the sitemaps that robots.txt names, or else the one at the default path, and
// the sitemaps that they list.
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

// sitemap reads a sitemap, and returns the sitemaps that it lists.
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

// canonical returns the valid URLs among texts.
func canonical(texts []string) (urls []string) {
	for _, text := range texts {
		if u, err := weburl.Canonicalize(text); err == nil {
			urls = append(urls, u)
		}
	}
	return urls
}
