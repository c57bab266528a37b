package testweb

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// sitemapURLs is the number of pages in one sitemap; a larger host has an index of several. The
// protocol allows 50,000; with fewer, a small web has an index too.
const sitemapURLs = 1000

const sitemapNS = `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`

// sitemap serves /sitemap.xml and, if that is an index, /sitemap-<n>.xml.
func (sp sitePages) sitemap(rw http.ResponseWriter, r *http.Request, host int) {
	count := (sp.site.cfg.PagesPerHost + sitemapURLs - 1) / sitemapURLs
	base := sp.base(r, host)
	part, numbered := strings.CutPrefix(strings.TrimSuffix(r.URL.Path, ".xml"), "/sitemap-")
	n, err := strconv.Atoi(part)
	switch {
	case !sp.site.cfg.Sitemap:
		notFound(rw)
	case r.URL.Path == "/sitemap.xml" && count == 1:
		send(rw, r, typeXML, sp.sitemapText(base, host, 0))
	case r.URL.Path == "/sitemap.xml":
		send(rw, r, typeXML, sitemapIndex(base, count))
	case numbered && err == nil && count > 1 && n >= 0 && n < count:
		send(rw, r, typeXML, sp.sitemapText(base, host, n))
	default:
		notFound(rw)
	}
}

func sitemapIndex(base string, count int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex %s>\n", sitemapNS)
	for n := range count {
		fmt.Fprintf(&b, "<sitemap><loc>http://%s/sitemap-%d.xml</loc></sitemap>\n", base, n)
	}
	b.WriteString("</sitemapindex>\n")
	return b.Bytes()
}

func (sp sitePages) sitemapText(base string, host, part int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset %s>\n", sitemapNS)
	first := part * sitemapURLs
	for page := first; page < min(first+sitemapURLs, sp.site.cfg.PagesPerHost); page++ {
		path := strings.ReplaceAll(sp.Path(host, page), "&", "&amp;")
		modified := sp.site.modified(host, page).Format("2006-01-02")
		fmt.Fprintf(&b, "<url><loc>http://%s%s</loc><lastmod>%s</lastmod></url>\n", base, path, modified)
	}
	b.WriteString("</urlset>\n")
	return b.Bytes()
}
