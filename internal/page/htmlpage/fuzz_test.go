package htmlpage

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"unicode/utf8"

	"seine/internal/base/weburl"
)

func FuzzScan(f *testing.F) {
	pages, _ := filepath.Glob("testdata/*.html")
	for _, page := range pages {
		body, err := os.ReadFile(page)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body, "text/html")
	}
	for _, in := range tokenSeeds {
		f.Add([]byte(in), "application/xhtml+xml")
	}
	f.Add([]byte(`<h1><a rel="X y" href=a>b<img alt=c srcset="d 1x, e"></h2><form action=f?g><p data-href=h>`), "text/html")
	f.Add([]byte("\xff\xfe<\x00a\x00"), "text/html; charset=shift_jis")
	f.Add([]byte("<a href=\xe9><base href=//x>"), "text/html; charset=\"koi8-r\"")

	opts := Options{Agent: "bot", MaxText: 100, MaxLinks: 5}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		p, err := Scan(body, testURL, contentType, opts)
		if err != nil {
			t.Fatalf("scan: %v", err)
		}
		checkStrings(t, p)
		checkLinks(t, p, opts)
		if again, _ := Scan(body, testURL, contentType, opts); !reflect.DeepEqual(p, again) {
			t.Errorf("second scan differs:\n%+v\n%+v", p, again)
		}
		checkDetails(t, p, body, contentType, opts)
	})
}

// checkDetails asks for more details, which must not change the others.
func checkDetails(t *testing.T, p Page, body []byte, contentType string, opts Options) {
	more := opts
	more.LinkTexts, more.Headings = true, true
	q, err := Scan(body, testURL, contentType, more)
	if err != nil {
		t.Fatalf("scan with details: %v", err)
	}
	for _, h := range q.Headings {
		if h.Level < 1 || h.Level > 6 || h.Text == "" || len(h.Text) > maxHeading || !utf8.ValidString(h.Text) {
			t.Errorf("heading %+v", h)
		}
	}
	q.Headings = nil
	for i := range q.Links {
		l := &q.Links[i]
		if len(l.Text) > maxLinkText || len(l.Rel) > maxRel || !utf8.ValidString(l.Text+l.Rel) {
			t.Errorf("link %+v", l)
		}
		l.Text, l.Rel = "", ""
	}
	if !reflect.DeepEqual(p, q) {
		t.Errorf("with details:\n%+v, without:\n%+v", q, p)
	}
	more.Kinds, more.Attributes = ^NoKinds, []string{"data-href"}
	if p, err = Scan(body, testURL, contentType, more); err != nil {
		t.Fatalf("scan for every kind: %v", err)
	}
	checkLinks(t, p, opts)
}

func checkStrings(t *testing.T, p Page) {
	for _, s := range []string{p.Title, p.Description, p.Canonical, p.Language, p.Charset, p.Text} {
		if !utf8.ValidString(s) {
			t.Errorf("not UTF-8: %q", s)
		}
	}
	// Folded text folds to itself.
	var f folder
	f.reset(len(p.Title))
	if f.write([]byte(p.Title), false); f.String() != p.Title {
		t.Errorf("title is not folded: %q", p.Title)
	}
}

func checkLinks(t *testing.T, p Page, opts Options) {
	if len(p.Text) > opts.MaxText || len(p.Links) > opts.MaxLinks {
		t.Errorf("%d bytes of text, %d links", len(p.Text), len(p.Links))
	}
	seen := map[string]bool{testURL: true}
	for _, l := range p.Links {
		if u, err := weburl.Canonicalize(l.URL); u != l.URL || err != nil {
			t.Errorf("link %q is not canonical: %q, %v", l.URL, u, err)
		}
		if seen[l.URL] {
			t.Errorf("link %q again", l.URL)
		}
		seen[l.URL] = true
	}
}
