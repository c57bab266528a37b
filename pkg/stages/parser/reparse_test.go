package parser

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// richSpec asks for every field and record that a page can give.
func richSpec() string {
	return `sitemaps: true
page: {emit: always, fields: [` + strings.Join(crawlspec.PageFields, ", ") + `]}
links: {follow: [` + strings.Join(crawlspec.LinkKinds, ", ") + `]}
duplicates: {exact: mark, near: mark, distance: 7}
mask: {kinds: [email, phone, ip, iban, card], fields: ["*"]}
records:
  - {kind: heading, each: "h1, h2", key: "{text}", fields: {text: {get: text}, html: {get: html}, markdown: {get: markdown}}}
  - {kind: meta, fields: {type: {meta: "og:type"}, ld: {json_ld: ".", all: true}}}
follow:
  - {css: "a[href]", priority: 2}
`
}

// Records depend on the pages alone. Two parsers with separate brokers produce identical bytes, and
// so does a parser that reads the pages again.
func TestPagesParsedAgainGiveTheSame(t *testing.T) {
	pages := someOfEverything(t)
	first, second := parserOf(t, richSpec()), parserOf(t, richSpec())
	a, b, again := parseAll(t, first, pages), parseAll(t, second, pages), parseAll(t, first, pages)
	if len(a) < len(pages)*500 {
		t.Fatalf("%d pages gave only %d bytes", len(pages), len(a))
	}
	if !bytes.Equal(a, b) {
		t.Error("two parsers made different records of the same pages")
	}
	if !bytes.Equal(a, again) {
		t.Error("a parser made other records when it read the pages again")
	}
}

type somePage struct {
	*messages.Page
	body string
}

func parseAll(t *testing.T, p *Parser, pages []somePage) []byte {
	t.Helper()
	var all bytes.Buffer
	for _, pg := range pages {
		for _, line := range p.lines(t, pg.Page, pg.body) {
			all.WriteString(line + "\n")
		}
	}
	return all.Bytes()
}

// someOfEverything returns the pages of the demo site and documents of other types.
func someOfEverything(t *testing.T) []somePage {
	t.Helper()
	var pages []somePage
	add := func(name, contentType, body string) {
		pg := page(contentType)
		pg.URL = "https://site.test" + name
		pg.Visit.URL = messages.HashURL(pg.URL)
		pages = append(pages, somePage{pg, body})
	}
	site := testweb.Demo()
	for _, name := range testweb.DemoPages() {
		w := httptest.NewRecorder()
		site.ServeHTTP(w, httptest.NewRequest(http.MethodGet, name, nil))
		add(name, w.Header().Get("Content-Type"), w.Body.String())
	}
	if len(pages) == 0 {
		t.Fatal("no pages")
	}
	add("/copy"+path.Base(pages[0].URL), "text/html", pages[0].body)
	for name, doc := range map[string][2]string{
		"/rich": {"text/html", `<script type="application/ld+json">[{"b": 1, "a": {"y": 1, "x": 2}}]</script><h1 itemscope itemtype=x><b itemprop=n>1</b></h1>
			<p vocab="https://schema.org/" typeof=Person property=name>me@site.test</p><img srcset="/1.png 1x, /2.png 2x"><form action=/s></form>`},
		"/feed": {"application/rss+xml", `<rss><channel><title>T</title><item><link>/i</link></item></channel></rss>`},
		"/map":  {"application/xml", someSitemap},
		"/json": {"application/json", `{"b": 1, "a": [1, 2]}`},
		"/csv":  {"text/csv", "a,b\n1,2\n"},
		"/text": {"text/plain; charset=iso-8859-1", "caf\xe9"},
		"/odd":  {"image/png", "<p>not an image"},
	} {
		add(name, doc[0], doc[1])
	}
	return pages
}
