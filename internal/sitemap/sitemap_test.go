package sitemap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

const urlset = `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`

func TestParse(t *testing.T) {
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	page := func(url string) Entry { return Entry{URL: url, Priority: -1} }
	for name, c := range map[string]struct {
		text string
		want []Entry
	}{
		"of the protocol": {urlset + `<url><loc>http://a.example/</loc><lastmod>2026-11-20</lastmod><changefreq>monthly</changefreq>
			<priority>0.8</priority></url></urlset>`, []Entry{{URL: "http://a.example/", Priority: 0.8, Modified: day}}},
		"empty":               {urlset + "</urlset>", nil},
		"several":             {urlset + "<url><loc>/a</loc></url><url><loc>/b</loc></url></urlset>", []Entry{page("/a"), page("/b")}},
		"blanks":              {urlset + "<url><loc>\n  /a\t</loc></url></urlset>", []Entry{page("/a")}},
		"CDATA":               {urlset + "<url><loc><![CDATA[/a?b&c]]></loc></url></urlset>", []Entry{page("/a?b&c")}},
		"entities":            {urlset + "<url><loc>/a?b&amp;c&#38;d</loc></url></urlset>", []Entry{page("/a?b&c&d")}},
		"bare ampersand":      {urlset + "<url><loc>/a?b&c</loc></url></urlset>", []Entry{page("/a?b&c")}},
		"no namespace":        {"<urlset><url><loc>/a</loc></url></urlset>", []Entry{page("/a")}},
		"prefix":              {`<s:urlset xmlns:s="x"><s:url><s:loc>/a</s:loc></s:url></s:urlset>`, []Entry{page("/a")}},
		"capitals":            {"<URLSET><URL><LOC>/a</LOC></URL></URLSET>", []Entry{page("/a")}},
		"BOM":                 {"\xef\xbb\xbf" + urlset + "<url><loc>/a</loc></url></urlset>", []Entry{page("/a")}},
		"Latin-1":             {"<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>/\xe9</loc></url></urlset>", []Entry{page("/é")}},
		"comment before":      {"<!-- made by x --><urlset><url><loc>/a</loc></url></urlset>", []Entry{page("/a")}},
		"no loc":              {urlset + "<url><priority>1</priority></url></urlset>", nil},
		"empty loc":           {urlset + "<url><loc/></url></urlset>", nil},
		"absurd priority":     {urlset + "<url><loc>/a</loc><priority>7</priority></url></urlset>", []Entry{page("/a")}},
		"priority in words":   {urlset + "<url><loc>/a</loc><priority>high</priority></url></urlset>", []Entry{page("/a")}},
		"time":                {urlset + "<url><loc>/a</loc><lastmod>2026-11-20T01:00:00+01:00</lastmod></url></urlset>", []Entry{{URL: "/a", Priority: -1, Modified: day}}},
		"time in words":       {urlset + "<url><loc>/a</loc><lastmod>yesterday</lastmod></url></urlset>", []Entry{page("/a")}},
		"images are no pages": {urlset + `<url><loc>/a</loc><image:image><image:loc>/i.png</image:loc></image:image></url></urlset>`, []Entry{page("/a")}},
		"languages": {
			urlset + `<url><loc>/a</loc><xhtml:link rel="alternate" hreflang="de" href=" /de "/><xhtml:link rel="x" href="/x"/></url></urlset>`,
			[]Entry{{URL: "/a", Priority: -1, Alternates: []string{"/de"}}},
		},
		"long URL": {urlset + "<url><loc>/" + strings.Repeat("a", maxURL) + "</loc></url></urlset>", nil},
	} {
		got, err := Parse([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range got.Entries {
			if got.Entries[i].Modified.Equal(day) {
				got.Entries[i].Modified = day
			}
		}
		if !reflect.DeepEqual(got.Entries, c.want) || got.Index || got.Cut {
			t.Errorf("%s: %+v\nwant %+v", name, got, c.want)
		}
	}
}

func TestIndex(t *testing.T) {
	got, err := Parse([]byte("<sitemapindex><sitemap><loc>/a.xml.gz</loc></sitemap></sitemapindex>"))
	if err != nil || !got.Index || len(got.Entries) != 1 || got.Entries[0].URL != "/a.xml.gz" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestGzip(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	fmt.Fprint(z, urlset+"<url><loc>/a</loc></url></urlset>")
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := Parse(b.Bytes())
	if err != nil || len(got.Entries) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A file that breaks off gives what it had.
func TestBrokenFile(t *testing.T) {
	got, err := Parse([]byte(urlset + "<url><loc>/a</loc></url><url><loc>/b"))
	if err == nil || got == nil || len(got.Entries) != 1 {
		t.Errorf("%+v, %v; want one entry and an error", got, err)
	}
}

func TestNoSitemap(t *testing.T) {
	for _, text := range []string{"", "plain text", "<html><body>no</body></html>", "<rss/>", "\x1f\x8bgarbage", "<?xml version='1.0'?>"} {
		if got, err := Parse([]byte(text)); got != nil || !errors.Is(err, ErrNot) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// However large a file is, no more is taken from it than the limits say.
func TestLimits(t *testing.T) {
	var b strings.Builder
	b.WriteString(urlset)
	for i := range MaxEntries + 10 {
		fmt.Fprintf(&b, "<url><loc>/%d</loc></url>", i)
	}
	got, err := Parse([]byte(b.String()))
	if err != nil || len(got.Entries) != MaxEntries || !got.Cut {
		t.Errorf("%d entries, cut %v, %v", len(got.Entries), got.Cut, err)
	}
	if _, err := Parse([]byte(urlset + strings.Repeat("<a>", 10_000))); !errors.Is(err, errDeep) {
		t.Errorf("deep elements: %v", err)
	}
}

// FuzzParse: any bytes end, within the limits.
func FuzzParse(f *testing.F) {
	f.Add([]byte(urlset + "<url><loc>/a</loc><priority>0.5</priority></url></urlset>"))
	f.Add([]byte("<sitemapindex><sitemap><loc>/a</loc><lastmod>2026</lastmod></sitemap></sitemapindex>"))
	f.Add([]byte("<urlset></urlset></urlset><url><loc>x</loc></url>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := Parse(body)
		if (got == nil) != errors.Is(err, ErrNot) {
			t.Fatalf("%+v with %v", got, err)
		}
		if got == nil {
			return
		}
		for _, e := range got.Entries {
			if e.URL == "" || len(e.URL) > maxURL || e.Priority < -1 || e.Priority > 1 {
				t.Errorf("%+v", e)
			}
		}
	})
}
