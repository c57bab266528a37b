package parser

import (
	"math"
	"strings"

	"seine/internal/base/weburl"
	"seine/internal/page/sitemap"
	"seine/pkg/messages"
)

// sitemapPage reads a page that may be a sitemap.
type sitemapPage struct{ *parsedPage }

// named reports whether the page may be read as a sitemap: the crawl follows sitemaps, or it is a
// seed.
func (sp sitemapPage) named() bool {
	return sp.plan.spec.Sitemaps || sp.page.Sitemap || sp.page.Depth == 0
}

// read follows the entries of a sitemap, if the crawl wants that. Other XML is handled like any
// page. The readable part of a broken sitemap is used.
func (sp sitemapPage) read(body []byte) error {
	if !sp.named() {
		return nil
	}
	parse := sitemap.Parse
	if sp.page.Sitemap || sp.page.Depth == 0 {
		parse = sitemap.ParseAny // it may be compressed text
	}
	site, err := parse(body, sp.page.ContentType)
	if site == nil {
		return nil // it is something else
	}
	return sp.followEntries(site, err)
}

// readText follows a list of URLs, or an llms.txt, and reports whether the page was one. Any text
// may look like a list by chance, so its name or its source must identify it as a sitemap; a seed
// may instead consist only of URLs.
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
		return false, nil // it is a text
	}
	if len(site.Entries) == 0 {
		return false, nil
	}
	return true, sp.followEntries(site, nil)
}

// readKnown reads a text that was named as a sitemap. It sets a warning if it is not one, since its
// URLs are then missing.
func (sp sitemapPage) readKnown(body []byte) (bool, error) {
	site, err := sitemap.ParseAny(body, sp.page.ContentType)
	if site == nil {
		sp.warning = "not a valid sitemap, parsed as a page: " + err.Error()
		return false, nil
	}
	return true, sp.followEntries(site, err)
}

// followEntries follows the entries of a sitemap: pages are one link away, and the sitemaps of an
// index have the depth of the index. ended is the error that ended the reading, for the warning.
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
		} else { // not a fetchable URL
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

// SitemapPriority converts the priority of a sitemap, where 1 is the highest and 0.5 the default,
// to Seine's, where 0 is the first and messages.DefaultPriority the default; nil for the default.
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
