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
			<priority>0.8</priority></url></urlset>`, []Entry{{URL: "http://a.example/", Priority: 0.8, Modified: day, ChangeFreq: "monthly"}}},
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
		"images are no pages": {urlset + `<url><loc>/a</loc><image:image><image:loc>/i.png</image:loc></image:image></url></urlset>`, []Entry{{URL: "/a", Priority: -1, Images: []Image{{URL: "/i.png"}}}}},
		"languages": {
			urlset + `<url><loc>/a</loc><xhtml:link rel="alternate" hreflang="de" href=" /de "/><xhtml:link rel="x" href="/x"/></url></urlset>`,
			[]Entry{{URL: "/a", Priority: -1, Alternates: []Alternate{{URL: "/de", Language: "de"}}}},
		},
		"long URL": {urlset + "<url><loc>/" + strings.Repeat("a", maxURL) + "</loc></url></urlset>", nil},
	} {
		got, err := Parse([]byte(c.text), "")
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

// The extensions, as in Google's documentation.
func TestExtensions(t *testing.T) {
	at := time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		text string
		want Entry
	}{
		"news": {
			`<loc>/a</loc><news:news><news:publication><news:name> The Paper </news:name><news:language>en</news:language></news:publication>
			<news:publication_date>2026-11-20T08:30:00Z</news:publication_date><news:title>Title &amp; more</news:title>
			<news:keywords>a, b</news:keywords></news:news>`,
			Entry{News: &News{Publication: "The Paper", Language: "en", Title: "Title & more", Published: Time{at}, Keywords: "a, b"}},
		},
		"images": {
			`<image:image><image:loc>/1.png</image:loc><image:title>T</image:title><image:caption>C</image:caption><image:license>/l</image:license>
			</image:image><loc>/a</loc><image:image><image:loc>/2.png</image:loc></image:image><image:image/>`,
			Entry{Images: []Image{{URL: "/1.png", Title: "T", Caption: "C", License: "/l"}, {URL: "/2.png"}}},
		},
		"video": {
			`<loc>/a</loc><video:video><video:thumbnail_loc>/t.jpg</video:thumbnail_loc><video:title>T</video:title><video:description>D</video:description>
			<video:content_loc>/v.mp4</video:content_loc><video:player_loc allow_embed="yes">/p</video:player_loc><video:duration>90</video:duration>
			<video:publication_date>2026-11-20T08:30:00Z</video:publication_date><video:tag>x</video:tag></video:video>`,
			Entry{Videos: []Video{{
				Title: "T", Description: "D", Thumbnail: "/t.jpg", Content: "/v.mp4", Player: "/p", Seconds: 90, Published: Time{at},
			}}},
		},
		"absurd video":   {`<loc>/a</loc><video:video><video:duration>-1</video:duration></video:video>`, Entry{}},
		"no frequency":   {`<loc>/a</loc><changefreq>often</changefreq>`, Entry{}},
		"frequency":      {`<loc>/a</loc><changefreq> Daily </changefreq>`, Entry{ChangeFreq: "daily"}},
		"other elements": {`<loc>/a</loc><PageMap><DataObject><Attribute name="x">y</Attribute></DataObject></PageMap>`, Entry{}},
		"languages": {
			`<loc>/a</loc><xhtml:link rel="alternate" hreflang="de-AT" href="/de"/><xhtml:link rel="alternate" href="/x"/>
			<xhtml:link rel="alternate" hreflang="x-default" href="/a"/>`,
			Entry{Alternates: []Alternate{{URL: "/de", Language: "de-AT"}, {URL: "/x"}, {URL: "/a", Language: "x-default"}}},
		},
	} {
		c.want.URL, c.want.Priority = "/a", -1
		got, err := Parse([]byte(urlset+"<url>"+c.text+"</url><url><loc>/b</loc></url></urlset>"), "")
		if err != nil || len(got.Entries) != 2 {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		if !reflect.DeepEqual(got.Entries[0], c.want) {
			t.Errorf("%s: %+v\nwant %+v", name, got.Entries[0], c.want)
		}
		if !reflect.DeepEqual(got.Entries[1], Entry{URL: "/b", Priority: -1}) {
			t.Errorf("%s: the next entry is %+v", name, got.Entries[1])
		}
	}
}

func TestExtensionsAreBounded(t *testing.T) {
	got, err := Parse([]byte(urlset+"<url><loc>/a</loc>"+strings.Repeat("<image:image><image:loc>/i</image:loc></image:image>", 2*maxList)+
		strings.Repeat("<video:video><video:title>"+strings.Repeat("é", maxExtraText)+"</video:title></video:video>", 2*maxList)+
		strings.Repeat("<x:link rel='alternate' href='/b'/>", 2*maxList)+"</url></urlset>"), "")
	if err != nil || len(got.Entries) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	e := got.Entries[0]
	if len(e.Images) != maxList || len(e.Videos) != maxList || len(e.Alternates) != maxList {
		t.Errorf("%d images, %d videos, %d alternates", len(e.Images), len(e.Videos), len(e.Alternates))
	}
	if n := len(e.Videos[0].Title); n > maxExtraText {
		t.Errorf("a title of %d bytes", n)
	}
}

func TestParseText(t *testing.T) {
	got, err := ParseText([]byte("\xef\xbb\xbfhttps://a.example/\r\n\n  HTTP://a.example/b?c \nhttp://a.example/é"))
	want := []Entry{{URL: "https://a.example/", Priority: -1}, {URL: "HTTP://a.example/b?c", Priority: -1}, {URL: "http://a.example/é", Priority: -1}}
	if err != nil || !reflect.DeepEqual(got.Entries, want) || got.Index || got.Cut {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{
		"", "\n\n", "plain text", "https://a.example/\nand text", "https://", "ftp://a.example/", "/a", "https://a.example/ 2026-11-20",
		"<urlset/>", "https://a.example/" + strings.Repeat("a", maxURL),
	} {
		if got, err := ParseText([]byte(text)); got != nil || !errors.Is(err, ErrNotSitemap) {
			t.Errorf("%.40q: %+v, %v", text, got, err)
		}
	}
	got, err = ParseText([]byte("http://a.example/1\n# made by x\nhttp://a.example/caf\xe9\n"))
	if err != nil || len(got.Entries) != 2 || got.Unreadable != 1 || got.Entries[1].URL != "http://a.example/caf%E9" {
		t.Errorf("a line that is not a URL: %+v, %v", got, err)
	}
	utf16 := strings.NewReplacer("", "\x00").Replace("http://a.example/1\r\nhttp://a.example/2\r\n")
	for _, text := range []string{
		"http://a.example/1\rhttp://a.example/2\r", "http://a.example/1\t2024-01-15\nhttp://a.example/2\t2024-01-15\n", "\xff\xfe" + utf16[1:], utf16[:len(utf16)-1],
	} {
		if got, err := ParseText([]byte(text)); err != nil || len(got.Entries) != 2 || got.Entries[1].URL != "http://a.example/2" {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	got, err = ParseText([]byte(strings.Repeat("http://a.example/\n", MaxEntries+1)))
	if err != nil || len(got.Entries) != MaxEntries || !got.Cut {
		t.Errorf("many lines: %v", err)
	}
	got, err = parseText([]byte("http://a.example/1\nhttp://a.example/2\n"), 30)
	if err != nil || len(got.Entries) != 1 || !got.Cut {
		t.Errorf("many bytes: %+v, %v", got, err)
	}
}

func TestIndex(t *testing.T) {
	got, err := Parse([]byte("<sitemapindex><sitemap><loc>/a.xml.gz</loc></sitemap></sitemapindex>"), "")
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
	got, err := Parse(b.Bytes(), "")
	if err != nil || len(got.Entries) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A truncated file gives its entries.
func TestBrokenFile(t *testing.T) {
	got, err := Parse([]byte(urlset+"<url><loc>/a</loc></url><url><loc>/b"), "")
	if err == nil || got == nil || len(got.Entries) != 1 {
		t.Errorf("%+v, %v; want one entry and an error", got, err)
	}
}

func TestNoSitemap(t *testing.T) {
	for _, text := range []string{"", "plain text", "<html><body>no</body></html>", "<rss/>", "\x1f\x8bgarbage", "<?xml version='1.0'?>"} {
		if got, err := Parse([]byte(text), ""); got != nil || !errors.Is(err, ErrNotSitemap) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// The limits apply to a file of any size.
func TestLimits(t *testing.T) {
	var b strings.Builder
	b.WriteString(urlset)
	for i := range MaxEntries + 10 {
		fmt.Fprintf(&b, "<url><loc>/%d</loc></url>", i)
	}
	got, err := Parse([]byte(b.String()), "")
	if err != nil || len(got.Entries) != MaxEntries || !got.Cut {
		t.Errorf("%d entries, cut %v, %v", len(got.Entries), got.Cut, err)
	}
	deep := urlset + strings.Repeat("<a>", 10_000) + strings.Repeat("</a>", 10_000) + "<url><loc>/a</loc></url></urlset>"
	if got, err := Parse([]byte(deep), ""); err != nil || len(got.Entries) != 1 || got.Repairs == 0 {
		t.Errorf("deep elements: %+v, %v", got, err)
	}
}

// FuzzParse: any bytes end, within the limits.
func FuzzParse(f *testing.F) {
	f.Add([]byte(urlset + "<url><loc>/a</loc><priority>0.5</priority></url></urlset>"))
	f.Add([]byte("<sitemapindex><sitemap><loc>/a</loc><lastmod>2026</lastmod></sitemap></sitemapindex>"))
	f.Add([]byte(urlset + "<url><loc>/a</loc><news:news><news:publication><news:name>x</news:name></news:publication></news:news>" +
		"<image:image><image:loc>/i</image:loc></image:image><video:video><video:duration>1</video:duration></video:video></url></urlset>"))
	f.Add([]byte("http://a.example/\n"))
	f.Add([]byte("<urlset></urlset></urlset><url><loc>x</loc></url>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if site, err := ParseText(body); (site == nil) != errors.Is(err, ErrNotSitemap) {
			t.Fatalf("as text: %+v with %v", site, err)
		}
		got, err := Parse(body, "")
		if (got == nil) != errors.Is(err, ErrNotSitemap) {
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
