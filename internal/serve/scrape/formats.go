package scrape

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"seine/internal/page/document"
	"seine/internal/run/trial"
	"seine/pkg/crawlspec"
)

// Parts selects what an answer has of a page.
type Parts struct {
	Formats []string `json:"formats,omitempty" maxItems:"8" enum:"markdown,text,html,raw_html,links,record,screenshot,pdf" doc:"What the answer has, beside metadata: markdown and html of the main content, the text and raw_html of all of the page, links, records, or pictures by a browser. markdown, links and record by default."`
	Offset  int      `json:"offset,omitempty" minimum:"0" doc:"Leave out so many characters of markdown, text, html and raw_html."`
	Limit   int      `json:"limit,omitempty" minimum:"1" doc:"At most so many characters of each; next_offset is where the rest begins."`
}

func (p *Parts) has(format string) bool { return slices.Contains(p.Formats, format) }

// wants is has; without a choice, of the formats of the default.
func (p *Parts) wants(format string) bool {
	if len(p.Formats) == 0 {
		return format == "markdown" || format == "links" || format == "record"
	}
	return p.has(format)
}

// applyTo returns a spec whose pages have the pictures that are asked for.
func (p *Parts) applyTo(spec *crawlspec.Spec) *crawlspec.Spec {
	out := *spec
	if p.wantsPictures() {
		out.SetRender(crawlspec.RenderAlways)
		out.Render.Modes, out.Render.Screenshot, out.Render.PDF = nil, p.has("screenshot"), p.has("pdf")
	}
	return &out
}

// wantsPictures reports whether a browser must show the page.
func (p *Parts) wantsPictures() bool { return p.has("screenshot") || p.has("pdf") }

// addMissing says which pictures a page does not have that were asked for, and why.
func (p *Parts) addMissing(page *Page) {
	for format, picture := range map[string][]byte{"screenshot": page.Screenshot, "pdf": page.PDF} {
		if p.has(format) && len(picture) == 0 {
			page.Problems = append(page.Problems, trial.Problem{Rule: "page", Field: format, Reason: cmp.Or(page.NotRendered, "only an HTML page that a browser shows has one")})
		}
	}
}

// Size is about how many bytes a page has in an answer.
func (p *Page) Size() int {
	n := len(p.Metadata) + len(p.Screenshot) + len(p.PDF)
	for _, text := range []*string{p.Markdown, p.Text, p.HTML, p.RawHTML} {
		if text != nil {
			n += len(*text)
		}
	}
	for _, r := range p.Records {
		n += len(r)
	}
	for _, l := range p.Links {
		n += len(l.URL)
	}
	return n
}

// keep leaves the parts of a page that were asked for.
func (p *Parts) keep(page *Page) {
	if !p.wants("links") {
		page.Links = nil
	}
	if !p.wants("record") {
		page.Records, page.Rules, page.Notes = nil, nil, nil
	}
	for _, text := range []*string{page.Markdown, page.Text, page.HTML, page.RawHTML} {
		if text == nil {
			continue
		}
		part, more := p.cut(*text)
		if *text = part; more {
			page.NextOffset = p.Offset + p.Limit
		}
	}
}

// cut returns the part of a text that was asked for, and whether there is more.
func (p *Parts) cut(s string) (part string, more bool) {
	s = s[bytesOf(s, p.Offset):]
	if p.Limit == 0 {
		return s, false
	}
	end := bytesOf(s, p.Limit)
	return s[:end], end < len(s)
}

// bytesOf returns the length of the first n characters of a text.
func bytesOf(s string, n int) (end int) {
	for ; n > 0 && end < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	return end
}

// mainHTML returns the main content of a page as HTML, "" for none.
func mainHTML(d *document.Document) string {
	nodes, _ := d.MainNodes() // a page that cannot be read has none
	var b strings.Builder
	for _, n := range nodes {
		_ = html.Render(&b, n) // to memory
	}
	return b.String()
}
