package htmlpage

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	xhtml "golang.org/x/net/html"
)

// sitePages are the pages of the PostgreSQL documentation, which `make sites` downloads.
func sitePages(b *testing.B) [][]byte {
	const dir = "../../../.cache/sites/usr/share/doc/postgresql-doc-15/html"
	names, _ := filepath.Glob(dir + "/*.html")
	if len(names) == 0 {
		b.Skipf("no pages in %s: make sites brings them", dir)
	}
	var pages [][]byte
	for _, name := range names {
		page, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		pages = append(pages, page)
	}
	return pages
}

// BenchmarkSite reads pages of real documentation in turn: with the bare tokenizers, with Scan, and
// into a tree. `go run ./parse cost` in bench/ compares them in interleaved rounds.
func BenchmarkSite(b *testing.B) {
	pages := sitePages(b)
	for _, way := range []struct {
		name string
		read func(page []byte)
	}{
		{"tokenizer", func(page []byte) {
			tokens, t := NewTokens(page), new(Token)
			for tokens.Next(t) {
			}
		}},
		{"xnet", func(page []byte) {
			z := xhtml.NewTokenizer(bytes.NewReader(page))
			for z.Next() != xhtml.ErrorToken {
			}
		}},
		{"scan", func(page []byte) { _, _ = Scan(page, testURL, "text/html", Options{}) }},
		{"tree", func(page []byte) { _, _ = xhtml.Parse(bytes.NewReader(page)) }},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			size, i := 0, 0
			for b.Loop() {
				way.read(pages[i%len(pages)])
				size += len(pages[i%len(pages)])
				i++
			}
			b.ReportMetric(float64(size)/1e6/b.Elapsed().Seconds(), "MB/s")
		})
	}
}
