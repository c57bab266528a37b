package main

import (
	"fmt"
	"io"
	"os"

	"seine/internal/base/safeprint"
	"seine/internal/page/sitemap"
	"seine/pkg/stages/parser"
)

// sitemap publishes the URLs of a sitemap. A sitemap at a URL becomes a seed itself: the fetcher
// requests it as politely as any page, and the parser follows its links. A file is read here.
func (f *seedPublisher) sitemap(from string) error {
	if isURL(from) {
		return f.entries("", &sitemap.Sitemap{Index: true, Entries: []sitemap.Entry{{URL: from, Priority: -1}}})
	}
	site, err := readSitemap(from)
	if err != nil {
		return err
	}
	if err := f.entries(from, site); err != nil {
		return err
	}
	if len(site.Entries)+site.Unreadable == 0 {
		f.empty = append(f.empty, from)
	}
	if site.Unreadable > 0 {
		safeprint.Fprintf(os.Stderr, "seine: %s: %d of its %d entries have no URL that can be read\n", from, site.Unreadable, site.Unreadable+len(site.Entries))
	}
	if site.Cut {
		return usageError{fmt.Errorf("%s: only its first %d URLs were added: it is longer than a sitemap may be", from, len(site.Entries))}
	}
	return nil
}

// entries adds the entries of a sitemap, which are sitemaps if it is an index.
func (f *seedPublisher) entries(from string, site *sitemap.Sitemap) error {
	for i := range site.Entries {
		e := &site.Entries[i]
		for _, page := range append([]sitemap.Alternate{{URL: e.URL}}, e.Alternates...) {
			for _, s := range f.Decode(from, page.URL) {
				s.Priority, s.Sitemap = parser.SitemapPriority(e.Priority), site.Index
				if err := f.Publisher.Add(s); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// readSitemap reads a file: XML, plain or gzipped, or one URL per line.
func readSitemap(name string) (*sitemap.Sitemap, error) {
	in, err := os.Open(name)
	if err != nil {
		return nil, usageError{fmt.Errorf("--sitemap: %w (a URL begins with http:// or https://)", err)}
	}
	defer in.Close()
	body, err := io.ReadAll(io.LimitReader(in, sitemap.MaxBytes))
	if err != nil {
		return nil, fmt.Errorf("--sitemap %s: %w", name, err)
	}
	site, err := sitemap.ParseAny(body, "")
	if err != nil && (site == nil || len(site.Entries) == 0) {
		return nil, usageError{fmt.Errorf("--sitemap %s: %w", name, err)}
	}
	if err != nil {
		safeprint.Fprintf(os.Stderr, "seine: %s: %v; the URLs before that were added\n", name, err)
	}
	return site, nil
}
