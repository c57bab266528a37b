package extract

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"seine/internal/page/article"
	"seine/internal/page/document"
	"seine/internal/page/htmlpage"
	"seine/internal/page/structured"
)

// river is a paragraph that is long enough for a main content.
const river = "<p>The river runs through the valley and past the old mill, where the wheel has not turned for forty years. " +
	"The river runs through the valley and past the old mill, where the wheel has not turned for forty years.</p>"

// readerPage is a page for each of the readers: the scan of its tokens, the DOM of rules, the main
// content and its Markdown, and structured data.
type readerPage struct {
	name, contentType, body string

	title, published string
	links            []string // that the scan finds
	shown            []string // words of the text
	hidden           []string // words that are not part of it
}

var readerPages = []readerPage{
	{
		name: "plain", body: "<!doctype html><title>T</title><main><h1>Heading</h1>" + river + "<a href=/leaf>leaf</a></main>",
		title: "T", links: []string{"/leaf"}, shown: []string{"Heading", "valley", "leaf"},
	},
	{
		name: "XHTML with a script that closes itself", contentType: "application/xhtml+xml",
		body: `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title><script src="a.js"/><style/></head><body><h1>Heading</h1>` + river +
			`<div class="empty"/><iframe src="/frame"/><textarea/><a name="x"/><p><![CDATA[a < b & c]]></p><p><a href="/leaf?a=1&amp;b=2">leaf</a><br/>next</p></body></html>`,
		title: "T", links: []string{"/frame", "/leaf?a=1&b=2"}, shown: []string{"Heading", "valley", "a < b & c", "leaf", "next"},
	},
	{
		name: "XHTML as XML", contentType: "application/xml",
		body: `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title><script src="a.js"/><meta name="date" content="15th January 2024"/></head><body><h1>Heading</h1>` +
			river + `<noscript/><p><a href="/leaf">leaf</a></p></body></html>`,
		title: "T", published: "2024-01-15", links: []string{"/leaf"}, shown: []string{"Heading", "valley", "leaf"},
	},
	{
		name: "XHTML as HTML is HTML", contentType: "text/html",
		body:  `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title><script src="a.js"/></head><body><h1>Heading</h1></script>` + river + `<a href="/leaf">leaf</a></body></html>`,
		title: "T", links: []string{"/leaf"}, shown: []string{"valley", "leaf"}, hidden: []string{"Heading"},
	},
	{
		name:  "base in the body",
		body:  `<title>T</title><body><main><h1>Heading</h1>` + river + `<base href="/other/"><p><a href="file.html">file</a></p></main>`,
		title: "T", links: []string{"/other/file.html"}, shown: []string{"Heading", "file"},
	},
	{
		name:  "two base elements, and one in a template",
		body:  `<title>T</title><template><base href="/wrong/"></template><base target=_top><main><base href="/other/"><base href="/later/"><h1>Heading</h1>` + river + `<p><a href="file.html">file</a></p></main>`,
		title: "T", links: []string{"/other/file.html"}, shown: []string{"Heading", "file"},
	},
	{
		name:  "base that is not for the web",
		body:  `<base href="data:text/html,x"><title>T</title><main><h1>Heading</h1>` + river + `<p><a href="file.html">file</a></p></main>`,
		title: "T", links: []string{"/x/file.html"}, shown: []string{"Heading", "file"},
	},
	{
		name: "declarative shadow root",
		body: `<title>T</title><my-card><TEMPLATE shadowRootMode="Open"><h1>Heading</h1>` + river + `<p><a href="/in-shadow">next</a></p><template><p>inert <a href=/inert>x</a></p></template></TEMPLATE><p>Light</p></my-card>` +
			`<template><template shadowrootmode=open><p>nested</p></template><p>after</p></template><template shadowrootmode=none><p>neither</p></template>`,
		title: "T", links: []string{"/in-shadow"}, shown: []string{"Heading", "valley", "next", "Light"}, hidden: []string{"inert", "nested", "after", "neither"},
	},
	{
		name: "readings of ruby text",
		body: `<title>T</title><main><h1><ruby>見<rt>み</rt>出<rt>だ</rt></ruby></h1>` + river + `<p><ruby>漢<rp>（</rp><rt>kan</rt><rp>）</rp></ruby>.` +
			`<ruby>字<rt>ji</rt></ruby>.<ruby>東<rt>tō<rt></ruby>.<ruby><rb>京</rb><rtc><rt><b>kyō</b></rt></rtc></ruby>.<ruby>都<rt>to</ruby><p><ruby>府<rt>fu</p><p>end.</p><p><a href=/leaf><ruby>葉<rt>ha</rt></ruby></a></main>`,
		title: "T", links: []string{"/leaf"}, shown: []string{"見(み)出(だ)", "漢（kan）.字(ji).東(tō).京(", "kyō", ").都(to)", "府(fu)", "end.", "葉(ha)"}, hidden: []string{"()", "))", "((", "end.)"},
	},
	{
		name:  "dates as people write them",
		body:  `<title>T</title><meta property="article:published_time" content="Monday, 15th of January 2024 10:30 AM EST"><main><h1>Heading</h1>` + river + `<p><a href=/leaf>leaf</a></p></main>`,
		title: "T", published: "2024-01-15T10:30:00-05:00", links: []string{"/leaf"}, shown: []string{"Heading"},
	},
}

const readerSpec = `records:
  - kind: page
    fields:
      title: title
      links: {xpath: "//a/@href | //iframe/@src", all: true, as: url}
      date: {css: meta, get: "@content", as: date}
      text: {css: body}
`

// All readers of a page agree on its title, base, links, text and dates.
func TestReadersAgree(t *testing.T) {
	const pageURL = "https://site.example/x/y"
	rules, err := golden{spec: readerSpec}.rules(t)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range readerPages {
		t.Run(p.name, func(t *testing.T) {
			contentType := p.contentType
			if contentType == "" {
				contentType = "text/html"
			}
			doc := document.New(document.Source{URL: pageURL, Status: 200, Header: http.Header{"Content-Type": {contentType}}, Body: []byte(p.body)})
			scanned, err := htmlpage.Scan([]byte(p.body), pageURL, contentType, htmlpage.Options{XML: doc.IsXHTML()})
			if err != nil {
				t.Fatal(err)
			}
			root, err := doc.Root()
			if err != nil {
				t.Fatal(err)
			}
			applied, _ := rules.Apply(t.Context(), doc)
			if len(applied.Records) != 1 {
				t.Fatalf("%d records: %v", len(applied.Records), applied.Notes)
			}
			content, _ := doc.Main()
			data := structured.FromHTML(root, doc.BaseURL())
			record := applied.Records[0].fields

			var found []string
			for _, l := range scanned.Links {
				found = append(found, l.URL)
			}
			want := make([]string, 0, len(p.links))
			for _, l := range p.links {
				want = append(want, "https://site.example"+l)
			}
			if !slices.Equal(found, want) {
				t.Errorf("the pass finds links %q, want %q", found, want)
			}
			var selected []string
			if list, ok := record.get("links"); ok {
				for _, l := range list.([]any) {
					selected = append(selected, l.(string))
				}
			}
			slices.Sort(selected) // a union of XPath has no order
			if !slices.Equal(selected, slices.Sorted(slices.Values(want))) {
				t.Errorf("rules find links %q, want %q", selected, want)
			}
			markdown := article.Markdown(content.Node, doc.BaseURL())
			whole := article.Markdown(root, doc.BaseURL())
			for _, l := range want {
				if !strings.Contains(whole, "]("+l+")") && !strings.Contains(l, "/frame") {
					t.Errorf("Markdown has no link %s:\n%s", l, whole)
				}
			}
			if title, _ := record.get("title"); scanned.Title != p.title || title != p.title {
				t.Errorf("titles %q and %q, want %q", scanned.Title, title, p.title)
			}
			if date, _ := record.get("date"); data.Published != p.published || p.published != "" && date != p.published {
				t.Errorf("published %q, rules %q, want %q", data.Published, date, p.published)
			}
			text, _ := record.get("text")
			readers := map[string]string{"the pass": scanned.Text, "rules": text.(string), "Markdown": strings.ReplaceAll(whole, "\\", "")}
			for reader, got := range readers {
				for _, word := range p.shown {
					if !strings.Contains(got, word) {
						t.Errorf("%s: %q is missing in %q", reader, word, got)
					}
				}
				for _, word := range p.hidden {
					if strings.Contains(got, word) {
						t.Errorf("%s: %q is in %q", reader, word, got)
					}
				}
			}
			if !strings.Contains(content.Text, "valley") || !strings.Contains(markdown, "valley") {
				t.Errorf("no main content: %q, %q", content.Text, markdown)
			}
		})
	}
}
