package structured

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// BenchmarkFromHTML reads the pages of testdata, and BenchmarkParse makes their trees, which costs
// more.
func BenchmarkFromHTML(b *testing.B) {
	pages, bytes := corpus(b)
	var roots []*html.Node
	for _, p := range pages {
		roots = append(roots, parse(b, p))
	}
	run := func(name string, read func(*html.Node)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(bytes)
			b.ReportAllocs()
			for b.Loop() {
				for _, r := range roots {
					read(r)
				}
			}
		})
	}
	run("all", func(r *html.Node) { FromHTML(r, testBase) })
	run("json_ld", func(r *html.Node) { JSONLD(r) })
	run("objects", func(r *html.Node) { values, _ := JSONLD(r); Objects(values) })
	run("microdata", func(r *html.Node) { Microdata(r, testBase) })
	run("rdfa", func(r *html.Node) { RDFa(r, testBase) })
	run("meta", func(r *html.Node) { Metas(r) })
}

func BenchmarkParse(b *testing.B) {
	pages, bytes := corpus(b)
	b.SetBytes(bytes)
	b.ReportAllocs()
	for b.Loop() {
		for _, p := range pages {
			parse(b, p)
		}
	}
}

// corpus returns the test pages, each followed by as much ordinary markup as pages have.
func corpus(b *testing.B) (pages []string, bytes int64) {
	b.Helper()
	files, _ := filepath.Glob("testdata/*.html")
	filler := strings.Repeat(`<div class="c"><h2 id="h">Heading</h2><p>Some <em>text</em> with <a class="l" href="/x/y?z=1">a link</a>, and more of it.</p></div>`, 200)
	for _, f := range files {
		body, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		pages = append(pages, string(body)+filler)
		bytes += int64(len(body) + len(filler))
	}
	return pages, bytes
}

// A product as shops have it, in a list of ten, compared with encoding/json.
func BenchmarkReadJSON(b *testing.B) {
	product := `{"@context":"https://schema.org","@type":"Product","name":"Blue shirt \u00e9","sku":"S-1","image":["https://shop.example/1.jpg"],` +
		`"offers":{"@type":"Offer","price":12.50,"priceCurrency":"EUR","availability":"https://schema.org/InStock"},"description":"` + strings.Repeat("Some text. ", 30) + `"}`
	text := "[" + strings.Repeat(product+",", 9) + product + "]"
	b.Run("readJSON", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if _, err := readJSON(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			var v any
			if err := json.Unmarshal([]byte(text), &v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding/json, compact", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			var out bytes.Buffer
			if err := json.Compact(&out, []byte(text)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
