package parser

import (
	"math"
	"strings"

	"seine/internal/base/weburl"
	"seine/internal/page/sitemap"
	"seine/pkg/messages"
)

// sitemapPage reads a page that is a sitemap.
type sitemapPage struct{ *parsedPage }

// named reports whether a page is read as a sitemap if it is one: the crawl follows sitemaps, or it is a seed.
func (sp sitemapPage) named() bool {
	return sp.plan.spec.Sitemaps || sp.page.Sitemap || sp.page.Depth == 0
}

// read follows what a sitemap lists, if the crawl wants that. XML that is
// something else is a page like any other. What can be read of a broken sitemap is.
func (sp sitemapPage) read(body []byte) error {
	if !sp.named() {
		return nil
	}
	parse := sitemap.Parse
	if sp.page.Sitemap || sp.page.Depth == 0 {
		parse = sitemap.ParseAny // it may be a text in gzip
	}
	site, err := parse(body, sp.page.ContentType)
	if site == nil {
		return nil // then it is something else
	}
	return sp.followEntries(site, err)
}

// readText does so for a list of URLs, or an llms.txt. Any text may be a list by chance, so who named it, or its name, has to
// say that it is a sitemap; a seed may have nothing but URLs instead. It reports whether it was one.
func (sp sitemapPage) readText(body []byte) (bool, error) {
	if !sp.named() {
		return false, nil
	}
	if sp.page.Sitemap {
		return sp.readKnown(body)
	}
	url, _, _ := strings.Cut(strings.ToLower(sp.page.URL), "?")
	site, err := sitemap.ParseText(body)
	switch isNamed := strings.Contains(url, "sitemap"); {
	case strings.HasSuffix(url, "/llms.txt"):
		site = sitemap.ParseMarkdown(body)
	case err != nil || !isNamed && (sp.page.Depth > 0 || site.Unreadable > 0):
		return false, nil // then it is a text
	}
	if len(site.Entries) == 0 {
		return false, nil
	}
	return true, sp.followEntries(site, nil)
}

// readKnown reads a text that must be a sitemap. It logs if it is not one, as what it
// should have led to is missing.
func (sp sitemapPage) readKnown(body []byte) (bool, error) {
	site, err := sitemap.ParseAny(body, sp.page.ContentType)
	if site == nil {
		sp.warning = "it was named as a sitemap, and is taken for a page: " + err.Error()
		return false, nil
	}
	return true, sp.followEntries(site, err)
}

// followEntries follows its entries: pages are a link away, and the sitemaps of an
// index are as near as the index. It logs what ended the reading.
func (sp sitemapPage) followEntries(site *sitemap.Sitemap, ended error) error {
	base, err := weburl.NewBase(sp.page.URL)
	if err != nil {
		return err
	}
	sp.noRecord = true
	to := sp.newLinkCollector()
	if site.Index {
		to.depth, to.sitemaps = sp.page.Depth, true
	}
	w := warning{repairs: site.Repairs, cut: site.Cut, read: len(site.Entries), unreadable: site.Unreadable, err: ended}
	for i := range site.Entries {
		e := &site.Entries[i]
		if u, err := base.Resolve(e.URL); err == nil {
			to.add(u, SitemapPriority(e.Priority))
		} else { // nothing that can be fetched
			w.read--
			w.unreadable++
		}
		for _, a := range e.Alternates {
			if u, err := base.Resolve(a.URL); err == nil {
				to.add(u, nil)
			}
		}
	}
	sp.follow, sp.warning = to.links, w.String()
	return nil
}

// SitemapPriority turns the priority of a sitemap, 1 being the highest and 0.5 what a
// page has that says nothing, into one of ours, 0 being the first and
// messages.DefaultPriority the same; nil if it says nothing else.
func SitemapPriority(p sitemap.Priority) *int {
	if p.IsZero() {
		return nil
	}
	ours := int(math.Round(float64(1-p) * messages.MaxPriority))
	if ours == messages.DefaultPriority {
		return nil
	}
	return &ours
}
