package feed

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seine/internal/base/weburl"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const pageURL = "https://docs.example.org/feeds/feed.xml"

func files(t testing.TB) []string {
	t.Helper()
	xmls, err := filepath.Glob("testdata/*.xml")
	if err != nil {
		t.Fatal(err)
	}
	jsons, err := filepath.Glob("testdata/*.json")
	if err != nil || len(xmls)+len(jsons) < 15 {
		t.Fatalf("%d feeds: %v", len(xmls)+len(jsons), err)
	}
	return append(xmls, jsons...)
}

// TestGolden reads the feeds in testdata. Rewrite what they should give with -update,
// and read the difference.
func TestGolden(t *testing.T) {
	for _, file := range files(t) {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Parse(body, "", pageURL)
		if f == nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		compare(t, file+".golden", describe(f, err))
	}
}

func compare(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n%s\nwant:\n%s", golden, got, want)
	}
}

func describe(f *Feed, err error) string {
	var b strings.Builder
	line := func(name string, value any) {
		if t, ok := value.(time.Time); ok && t.IsZero() || fmt.Sprint(value) == "" || fmt.Sprint(value) == "[]" {
			return
		}
		fmt.Fprintf(&b, "%s: %v\n", name, value)
	}
	line("format", f.Format)
	line("title", f.Title)
	line("description", f.Description)
	line("link", f.Link)
	line("language", f.Language)
	line("updated", f.Updated)
	line("links", f.Links)
	if err != nil {
		line("error", err)
	}
	for _, i := range f.Items {
		b.WriteByte('\n')
		line("id", i.ID)
		line("url", i.URL)
		line("title", i.Title)
		line("summary", i.Summary)
		line("content", i.Content)
		line("author", i.Author)
		line("published", i.Published)
		line("updated", i.Updated)
		line("categories", strings.Join(i.Categories, " | "))
		line("enclosures", i.Enclosures)
		line("links", i.Links)
		line("base", i.Base)
	}
	return b.String()
}

func TestNoFeed(t *testing.T) {
	for _, body := range []string{
		"", "plain text", "<html><body>no</body></html>", "<urlset/>", "{}", `{"version":"1"}`, `{"version":"https://jsonfeed.org/version/1"`,
		"<?xml version='1.0'?>", "[1]", "<!-- -->", "\x1f\x8b", "<<", "{\"items\":[",
	} {
		if f, err := Parse([]byte(body), "application/rss+xml", pageURL); f != nil || !errors.Is(err, ErrNoFeed) {
			t.Errorf("%q: %+v, %v", body, f, err)
		}
	}
	if f, err := Parse([]byte("<rss/>"), "", "no URL"); f != nil || err == nil {
		t.Errorf("at no URL: %+v, %v", f, err)
	}
}

// The header has the last word on the encoding, so that decoded text can be given
// again.
func TestHeaderNamesTheEncoding(t *testing.T) {
	body := "<?xml version='1.0' encoding='ISO-8859-1'?><rss><channel><title>é</title></channel></rss>"
	f, err := Parse([]byte(body), "text/xml; charset=utf-8", pageURL)
	if err != nil || f.Title != "é" {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestDate(t *testing.T) {
	want := time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
	for _, text := range []string{
		"2026-11-20T09:30:00Z", "2026-11-20T10:30:00+01:00", "2026-11-20T10:30:00+0100", "2026-11-20T09:30Z", "2026-11-20 09:30:00",
		"2026-11-20T09:30:00.000Z", "Fri, 20 Nov 2026 09:30:00 GMT", "Fri, 20 Nov 2026 10:30:00 +0100", "Fri, 20 Nov 26 09:30 UT",
		"Friday, 20 November 2026 09:30:00 Z", "20 Nov 2026 04:30:00 EST", "Fri, 20 Nov 2026 01:30:00 PST", "Fri,  20 Nov 2026 09:30:00 gmt",
		"Fri Nov 20 09:30:00 UTC 2026", "Fri, 20 Nov 2026 10:30:00 GMT+0100", "Nov 20, 2026 09:30:00 GMT", "2026/11/20 09:30:00",
		" \n2026-11-20T09:30:00Z\t", "Fri., 20 Nov 2026 10:30:00 CET",
	} {
		if got := date(text); !got.Equal(want) {
			t.Errorf("%q: %v", text, got)
		}
	}
	for _, text := range []string{"", "yesterday", "0000-00-00", "32 Nov 2026", "0000-01-01T00:00:00Z", strings.Repeat("1", 100)} {
		if got := date(text); !got.IsZero() {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// However a feed is made, no more is taken of it than the limits say.
func TestLimits(t *testing.T) {
	const head = "<rss><channel><title>x</title>"
	many := head + strings.Repeat("<item><title>x</title></item>", MaxItems+5)
	if f, err := Parse([]byte(many), "", pageURL); err != nil || len(f.Items) != MaxItems || !f.Cut {
		t.Errorf("many items: %d, %v", len(f.Items), err)
	}
	if f, err := Parse([]byte(head+strings.Repeat("<a:b>", 100_000)), "", pageURL); err == nil || f.Repairs < 99_000 {
		t.Errorf("deep elements: %v", err)
	}
	if f, err := Parse([]byte(head+"<item><description>"+strings.Repeat("&lt;p", maxValue/4)), "", pageURL); f == nil || err == nil {
		t.Errorf("a long text: %v", err)
	}
	long := head + "<item><description>" + strings.Repeat("x<i/>", maxValue/4) + "</description><title>y</title>" +
		strings.Repeat("<category>z</category><link href='/1'/><enclosure url='/2'/>", 10*maxList) + "</item></channel></rss>"
	f, err := Parse([]byte(long), "", pageURL)
	if err != nil || len(f.Items) != 1 {
		t.Fatalf("%+v, %v", f, err)
	}
	if i := f.Items[0]; len(i.Summary) > maxValue+100 || len(i.Links) != maxList || len(i.Enclosures) != 1 || i.Title != "y" {
		t.Errorf("%d bytes, %d links, %d files, title %q", len(i.Summary), len(i.Links), len(i.Enclosures), i.Title)
	}
	base, err := weburl.NewBase(pageURL)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := read([]byte(head+"<item><title>y</title></item><item>"), "", urlBase{base, pageURL}, 60); err != nil || !f.Cut || len(f.Items) != 1 {
		t.Errorf("a long feed: %v", err)
	}
}

// FuzzParse: any bytes end, within the limits, and give the same twice.
func FuzzParse(f *testing.F) {
	for _, file := range files(f) {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := Parse(body, "", pageURL)
		if (got == nil) != errors.Is(err, ErrNoFeed) {
			t.Fatalf("%+v with %v", got, err)
		}
		if got == nil {
			return
		}
		for _, i := range got.Items {
			if len(i.Links) > maxList || len(i.Enclosures) > maxList || len(i.Categories) > maxList || len(i.Title) > maxValue {
				t.Errorf("%+v is beyond the limits", i)
			}
			if i.URL != "" && !strings.HasPrefix(i.URL, "http") || i.Base == "" {
				t.Errorf("URL %q, base %q", i.URL, i.Base)
			}
		}
		again, err2 := Parse(body, "", pageURL)
		if describe(got, err) != describe(again, err2) {
			t.Error("differs from one time to the next")
		}
	})
}

func BenchmarkParse(b *testing.B) {
	item := "<item><title>One &amp; two</title><link>/1</link><pubDate>Fri, 20 Nov 2026 09:30:00 GMT</pubDate><description>" +
		strings.Repeat("some text &lt;b&gt;of it&lt;/b&gt; ", 20) + "</description></item>"
	body := []byte("<rss><channel>" + strings.Repeat(item, 50) + "</channel></rss>")
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(body, "", pageURL); err != nil {
			b.Fatal(err)
		}
	}
}
