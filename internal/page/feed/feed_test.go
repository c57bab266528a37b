package feed

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

// TestGolden reads the feeds in testdata. Update the expected results with -update, and review the
// difference.
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
		if fmt.Sprint(value) != "" {
			fmt.Fprintf(&b, "%s: %v\n", name, value)
		}
	}
	line("title", f.Title)
	line("description", f.Description)
	line("link", f.Link)
	line("language", f.Language)
	if err != nil {
		line("error", err)
	}
	for _, i := range f.Items {
		b.WriteByte('\n')
		line("url", i.URL)
		line("title", i.Title)
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

// The header determines the encoding, so that decoded text can be passed again.
func TestHeaderNamesTheEncoding(t *testing.T) {
	body := "<?xml version='1.0' encoding='ISO-8859-1'?><rss><channel><title>é</title></channel></rss>"
	f, err := Parse([]byte(body), "text/xml; charset=utf-8", pageURL)
	if err != nil || f.Title != "é" {
		t.Errorf("%+v, %v", f, err)
	}
}

// The limits apply to any feed.
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
	long := head + "<description>" + strings.Repeat("x<i/>", maxValue/4) + "</description><item><title>y</title></item></channel></rss>"
	if f, err := Parse([]byte(long), "", pageURL); err != nil || len(f.Items) != 1 || len(f.Description) > maxValue+100 {
		t.Errorf("a long description: %v", err)
	}
	base, err := weburl.NewBase(pageURL)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := read([]byte(head+"<item><title>y</title></item><item>"), "", urlBase{base, pageURL}, 60); err != nil || !f.Cut || len(f.Items) != 1 {
		t.Errorf("a long feed: %v", err)
	}
}

// FuzzParse: any bytes end, within the limits, and give the same result twice.
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
			if len(i.Title) > maxValue || i.URL != "" && !strings.HasPrefix(i.URL, "http") {
				t.Errorf("URL %q, title of %d bytes", i.URL, len(i.Title))
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
