package samplesites

import (
	"fmt"
	"html"
	"strings"
)

// newsFeed returns an RSS 2.0 feed of articles, with the extensions that common systems add.
func newsFeed(base string, articles []*article) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel><title>The Daily Bridge</title><link>%[1]s/</link><description>News from both banks</description>
<atom:link href="%[1]s/feed.xml" rel="self" type="application/rss+xml"/>
`, base)
	for _, a := range articles {
		fmt.Fprintf(&b, `<item><title>%s</title><link>%s%s</link><guid isPermaLink="false">story-%d</guid>
<pubDate>%s</pubDate><dc:creator><![CDATA[%s]]></dc:creator><description>%s</description></item>
`, html.EscapeString(a.Title), base, a.Path(), a.ID, a.Email(), a.Author, html.EscapeString("<p>"+a.Lead+"</p>"))
	}
	b.WriteString("</channel></rss>\n")
	return []byte(b.String())
}

// newsSitemap returns a sitemap with the news extension.
func newsSitemap(base string, articles []*article) []byte {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">
`)
	for _, a := range articles {
		fmt.Fprintf(&b, `<url><loc>%s%s</loc><lastmod>%s</lastmod><news:news><news:publication><news:name>The Daily Bridge</news:name>
<news:language>en</news:language></news:publication><news:publication_date>%s</news:publication_date><news:title>%s</news:title></news:news></url>
`, base, a.Path(), a.Update(), a.Date(), html.EscapeString(a.Title))
	}
	b.WriteString("</urlset>\n")
	return []byte(b.String())
}
