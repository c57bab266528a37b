package document

import (
	"encoding/json"

	"seine/internal/page/sitemap"
)

// sitemapValue returns a sitemap for jq: an object with index, which is true if its entries are
// sitemaps, and entries, each with its url and the other properties of [sitemap.Entry]. For a
// truncated file, it has the entries before the truncation.
func sitemapValue(body []byte, contentType string) (any, error) {
	site, err := sitemap.Parse(body, contentType)
	if site == nil {
		return nil, err
	}
	if site.Entries == nil {
		site.Entries = []sitemap.Entry{}
	}
	text, err := json.Marshal(site)
	if err != nil {
		return nil, err
	}
	v, _, err := Value(text)
	return v, err
}
