package parser

import (
	"math"

	"seine/internal/sitemap"
	"seine/internal/weburl"
	"seine/pkg/messages"
)

// readSitemap reads a page that is a sitemap, if the crawl wants them; nil if it
// is something else. Of one that breaks off, what came before counts.
func readSitemap(page *messages.Page, body []byte, spec *messages.Spec) *sitemap.Sitemap {
	if !spec.Sitemaps || kind(page.ContentType, body) != kindXML {
		return nil
	}
	site, _ := sitemap.Parse(body) // nil if it is none
	return site
}

// listed returns what a sitemap lists, and its distance from the seed: pages are
// a link away, and the sitemaps of an index are as near as the index.
func (p *Parser) listed(page *messages.Page, site *sitemap.Sitemap, spec *messages.Spec) ([]messages.Candidate, int) {
	base, err := weburl.NewBase(page.URL)
	if err != nil {
		return nil, 0 // the URL of a page is canonical
	}
	rules := p.rules.Of(page.Crawl, spec)
	seen := map[string]bool{page.URL: true}
	var urls []messages.Candidate
	add := func(text string, priority *int) {
		u, err := base.Resolve(text)
		if err != nil {
			return // nothing that can be fetched
		}
		if u = rules.Normalize(u); !seen[u] {
			seen[u] = true
			urls = append(urls, messages.Candidate{URL: u, Priority: priority})
		}
	}
	for _, e := range site.Entries {
		add(e.URL, priorityOf(e.Priority))
		for _, a := range e.Alternates {
			add(a, nil)
		}
	}
	if site.Index {
		return urls, page.Depth
	}
	return urls, page.Depth + 1
}

// priorityOf turns the priority of a sitemap, 1 being the highest and 0.5 what a
// page has that says nothing, into one of ours, 0 being the first and
// messages.DefaultPriority the same.
func priorityOf(p float64) *int {
	if p < 0 {
		return nil
	}
	ours := int(math.Round((1 - p) * messages.MaxPriority))
	if ours == messages.DefaultPriority {
		return nil
	}
	return &ours
}
