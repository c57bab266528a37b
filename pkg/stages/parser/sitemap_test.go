package parser

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

const someSitemap = `<urlset><url><loc>https://site.test/a</loc><priority>1.0</priority></url>
	<url><loc>/b?utm_source=x</loc><priority>0.5</priority></url><url><loc>https://site.test/a</loc></url>
	<url><loc>/c</loc><link rel="alternate" hreflang="de" href="/de/c"/><priority>0.1</priority></url><url><loc>javascript:void(0)</loc></url></urlset>`

func TestSitemapGivesLinksAndNoRecord(t *testing.T) {
	p := newParser(t, func(s *crawlspec.Spec) { s.Sitemaps = true })
	for contentType, zip := range map[string]bool{"application/xml": false, "text/xml; charset=utf-8": false, "application/x-gzip": true} {
		body := []byte(someSitemap)
		if zip {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write(body) // a bytes.Buffer never fails
			_ = z.Close()
			body = b.Bytes()
		}
		pg := page(contentType)
		out, err := p.Handle(t.Context(), message(pg, body))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		ends := 0
		for _, m := range out.Messages() {
			if strings.HasPrefix(m.Subject, "seine.records.") {
				t.Errorf("%s: a sitemap made a record", contentType)
				continue
			}
			c, err := messages.DecodeCandidates(m.Data)
			if err != nil {
				t.Fatal(err)
			}
			if !c.Ends.IsZero() {
				ends++
			}
			for _, u := range c.URLs {
				got[u.URL] = fmt.Sprint(c.Depth)
				if u.Priority != nil {
					got[u.URL] += fmt.Sprint(" priority ", *u.Priority)
				}
			}
		}
		want := map[string]string{
			"https://site.test/a": "3 priority 0", "https://site.test/b": "3", "https://site.test/c": "3 priority 8", "https://site.test/de/c": "3",
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || ends != 1 {
			t.Errorf("%s: %v, and the visit ends %d times\nwant %v", contentType, got, ends, want)
		}
	}
}

// The sitemaps of an index have the depth of the index.
func TestIndexOfSitemaps(t *testing.T) {
	p := newParser(t, func(s *crawlspec.Spec) { s.Sitemaps = true })
	got := p.parsed(t, page("text/xml"), []byte("<sitemapindex><sitemap><loc>/1.xml</loc></sitemap></sitemapindex>"))
	if !maps.Equal(got.depths, map[string]int{"https://site.test/1.xml": 2}) {
		t.Errorf("links with their depths: %v", got.depths)
	}
}

func TestSitemapMayBeText(t *testing.T) {
	p := newParser(t, func(s *crawlspec.Spec) { s.Sitemaps = true })
	const list = "https://site.test/a\nhttps://site.test/b\n"
	pg := page("text/plain")
	if got := p.parsed(t, pg, []byte(list)); len(got.links) > 0 || got.record.Text != list {
		t.Errorf("a text gave links %v, record %+v", got.links, got.record)
	}
	pg.URL = "https://site.test/sitemap_1.txt"
	pg.Visit.URL = messages.HashURL(pg.URL)
	if got := p.parsed(t, pg, []byte(list)); len(got.links) != 2 || got.record.URL != "" {
		t.Errorf("a sitemap gave links %v, record %+v", got.links, got.record)
	}
	if got := p.parsed(t, pg, []byte("no URL")); got.record.Text != "no URL" {
		t.Errorf("a text of that name gave record %+v", got.record)
	}
}

// A text marked as a sitemap is read as one, whatever its name, plain or gzipped. The sitemaps of
// an index are marked.
func TestKnownSitemapMayHaveAnyName(t *testing.T) {
	const list = "https://site.test/a\nhttps://site.test/b\n"
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte(list)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for contentType, body := range map[string]string{
		"text/plain": list, "text/plain; charset=utf-8": someSitemap, "application/gzip": zipped.String(), "": list,
	} {
		p := newParser(t, func(s *crawlspec.Spec) { s.Sitemaps = true })
		pg := page(contentType)
		pg.Sitemap = true
		if got := p.parsed(t, pg, []byte(body)); len(got.links) < 2 || got.record.URL != "" {
			t.Errorf("%q: links %v, record %+v", contentType, got.links, got.record)
		}
	}
	p := newParser(t, func(s *crawlspec.Spec) { s.Sitemaps = true })
	pg := page("text/plain")
	pg.Sitemap = true
	got := p.parsed(t, pg, []byte("not here"))
	if want := `not a valid sitemap, parsed as a page: not a sitemap: "not here" is not a URL`; got.record.Text != "not here" || got.last.Warning != want {
		t.Errorf("a text gave record %+v, and the end %+v", got.record, got.last)
	}
}

// The sitemaps of an index are sent as sitemaps, even if pages link to them, too. The URLs of a
// sitemap are not.
func TestSitemapsOfAnIndexAreMarked(t *testing.T) {
	p := newParser(t, func(s *crawlspec.Spec) { s.Sitemaps = true })
	p.parsed(t, page("text/html"), []byte("<a href=/urls>"))
	for body, marked := range map[string]bool{
		"<sitemapindex><sitemap><loc>/urls</loc></sitemap></sitemapindex>": true, "<urlset><url><loc>/page</loc></url></urlset>": false,
	} {
		pg := page("text/xml")
		pg.Depth++
		out, err := p.Handle(t.Context(), message(pg, []byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, m := range out.Messages() {
			if c, err := messages.DecodeCandidates(m.Data); err == nil {
				for _, u := range c.URLs {
					found++
					if u.Sitemap != marked {
						t.Errorf("%s: %+v", body, u)
					}
				}
			}
		}
		if found != 1 {
			t.Errorf("%s: %d URLs", body, found)
		}
	}
}

// XML that is no sitemap, or that belongs to a crawl without sitemaps, is an ordinary document.
func TestOtherXMLMakesARecord(t *testing.T) {
	for sitemaps, body := range map[bool]string{true: "<list><link>https://site.test/a</link></list>", false: someSitemap} {
		p := newParser(t, func(s *crawlspec.Spec) { s.Sitemaps = sitemaps })
		got := p.parsed(t, page("application/xml"), []byte(body))
		if got.record.URL != pageURL || len(got.links) > 0 {
			t.Errorf("sitemaps %v: record %+v, links %v", sitemaps, got.record, got.links)
		}
	}
}

// A broken part of a sitemap or a feed costs one entry, and the end of the visit reports it.
func TestWhatCannotBeReadOfASitemapIsTold(t *testing.T) {
	p := newParser(t, func(s *crawlspec.Spec) { s.Sitemaps = true })
	for _, c := range []struct{ contentType, body, links, warning string }{
		{"application/xml", "<urlset><url><loc>/a</loc></url></urlset>", "https://site.test/a", ""},
		{
			"application/xml; charset=utf-8",
			"<urlset><url><loc>https://site.test/\xe9</loc></url><url><lastmod>2026</lastmod></url><url><loc>http://[</loc></url><url><loc>/b</loc></url></urlset>",
			"https://site.test/%E9 https://site.test/b",
			"2 of 4 entries without a URL that can be fetched; 1 error in the XML skipped",
		},
		{
			"application/rss+xml", "<rss><channel><item><link>/a\x02</link></item><item><link>/b</link></item>", "https://site.test/a https://site.test/b",
			"1 error in the XML skipped; read feed: it ends inside an element",
		},
	} {
		out, err := p.Handle(t.Context(), message(page(c.contentType), []byte(c.body)))
		if err != nil {
			t.Fatal(err)
		}
		var links []string
		warning := ""
		for _, m := range out.Messages() {
			if strings.HasPrefix(m.Subject, "seine.records.") {
				continue
			}
			c, err := messages.DecodeCandidates(m.Data)
			if err != nil {
				t.Fatal(err)
			}
			warning += c.Warning
			for _, u := range c.URLs {
				links = append(links, u.URL)
			}
		}
		slices.Sort(links)
		if strings.Join(links, " ") != c.links || warning != c.warning {
			t.Errorf("%s: %q\nwarning %q, want %q", c.contentType, links, warning, c.warning)
		}
	}
}

// Rules make records of the readable part of broken XML, and the visit reports the rest.
func TestRulesOverBrokenXMLHaveRecordsAndAWarning(t *testing.T) {
	p := newParser(t, func(s *crawlspec.Spec) {
		s.Records = []crawlspec.RecordRule{{
			Kind: "item", Each: &crawlspec.Each{Selector: crawlspec.Selector{XPath: "//Item"}},
			Fields: crawlspec.Fields{{Name: "name", Field: crawlspec.Field{Selector: crawlspec.Selector{XPath: "Name"}}}},
		}}
	})
	out, err := p.Handle(t.Context(), message(page("application/xml"), []byte("<List><Item><Name>a\x01</Name></Item><Item><Name>b</Item>")))
	if err != nil {
		t.Fatal(err)
	}
	records, warning := 0, ""
	for _, m := range out.Messages() {
		if strings.HasPrefix(m.Subject, "seine.records.") {
			if bytes.Contains(m.Data, []byte(`"kind":"item"`)) {
				records++
			}
			continue
		}
		if c, err := messages.DecodeCandidates(m.Data); err != nil {
			t.Fatal(err)
		} else {
			warning += c.Warning
		}
	}
	if records != 2 || !strings.Contains(warning, "the readable part was used") {
		t.Errorf("%d records, warning %q", records, warning)
	}
}

// TestNamedDocumentsAreRead checks that a seed is read as a sitemap or a feed, and that a feed
// named as a sitemap is read as one.
func TestNamedDocumentsAreRead(t *testing.T) {
	const rss = "<rss><channel><title>F</title><item><title>x</title><link>https://site.test/a</link></item></channel></rss>"
	const atom = "<feed xmlns='http://www.w3.org/2005/Atom'><title>F</title><entry><link href='https://site.test/a'/></entry></feed>"
	for _, tt := range []struct {
		contentType, body string
		sitemap, record   bool // whether it was named as a sitemap; whether it makes a record
	}{
		{"application/xml", "<urlset><url><loc>/a</loc></url></urlset>", false, false},
		{"application/rss+xml", rss, false, true},
		{"application/rss+xml", rss, true, false},
		{"text/xml", rss, true, false},
		{"application/atom+xml", atom, true, false},
		{"application/xml", atom, true, false},
	} {
		p := newParser(t, func(s *crawlspec.Spec) { s.Sitemaps = tt.sitemap })
		pg := page(tt.contentType)
		pg.Sitemap = tt.sitemap
		if !tt.sitemap {
			pg.Depth = 0
		}
		got := p.parsed(t, pg, []byte(tt.body))
		if len(got.links) != 1 || (got.record.URL != "") != tt.record {
			t.Errorf("%s %s: links %v, record %+v", tt.contentType, tt.body, got.links, got.record)
		}
	}
}

// A seed needs no setting: the URLs in a text file or an llms.txt are links.
func TestSeedsThatListPages(t *testing.T) {
	const llms = "# Site\n\n> What it is\n\n- [A](a.md): first\n- [B](</b> \"title\")\n- [C](https://site.test/c_(x))\n\nSee <https://site.test/d>.\n"
	for _, c := range []struct {
		url, body string
		depth     int
		want      int // links
	}{
		{"https://site.test/llms.txt", llms, 0, 4},
		{"https://site.test/docs/LLMS.txt?v=1", llms, 0, 4},
		{"https://site.test/llms.txt", "# Site\n\nNo links.\n", 0, 0},
		{"https://site.test/llms.txt", llms, 1, 0},
		{"https://site.test/readme.txt", llms, 0, 0},
		{"https://site.test/urls.txt", "https://site.test/a\n\nhttps://site.test/b\n", 0, 2},
		{"https://site.test/urls.txt", "https://site.test/a\nhttps://site.test/b\nand more\n", 0, 0},
		{"https://site.test/urls.txt", "https://site.test/a\nhttps://site.test/b\n", 1, 0},
	} {
		p := newParser(t, func(s *crawlspec.Spec) { s.Page.Emit, s.Chunks = crawlspec.EmitAlways, new(crawlspec.Chunks) })
		pg := page("text/plain")
		pg.URL, pg.Depth = c.url, c.depth
		pg.Visit.URL = messages.HashURL(pg.URL)
		if got := p.parsed(t, pg, []byte(c.body)); len(got.links) != c.want || (got.record.URL == "") != (c.want > 0) {
			t.Errorf("%s at depth %d: links %v, record %+v", c.url, c.depth, got.links, got.record)
		}
	}
}
