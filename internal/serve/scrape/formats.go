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

// Parts selects the parts of a page in a reply.
type Parts struct {
	Formats []string `json:"formats,omitempty" maxItems:"8" enum:"markdown,text,html,raw_html,links,record,screenshot,pdf" doc:"What the answer has, beside metadata: markdown and html of the main content, the text and raw_html of all of the page, links, records, or pictures by a browser. markdown, links and record by default."`
	Offset  int      `json:"offset,omitempty" minimum:"0" doc:"Leave out so many characters of markdown, text, html and raw_html."`
	Limit   int      `json:"limit,omitempty" minimum:"1" doc:"At most so many characters of each; next_offset is where the rest begins."`
}

func (p *Parts) has(format string) bool { return slices.Contains(p.Formats, format) }

// wants is like has, but without a selection it reports the default formats.
func (p *Parts) wants(format string) bool {
	if len(p.Formats) == 0 {
		return format == "markdown" || format == "links" || format == "record"
	}
	return p.has(format)
}

// applyTo returns a spec that renders the requested pictures.
func (p *Parts) applyTo(spec *crawlspec.Spec) *crawlspec.Spec {
	out := *spec
	if p.wantsPictures() {
		out.SetRender(crawlspec.RenderAlways)
		out.Render.Modes, out.Render.Screenshot, out.Render.PDF = nil, p.has("screenshot"), p.has("pdf")
	}
	return &out
}

// wantsPictures reports whether the page must be rendered.
func (p *Parts) wantsPictures() bool { return p.has("screenshot") || p.has("pdf") }

// addMissing adds problems for requested pictures that a page lacks.
func (p *Parts) addMissing(page *Page) {
	for format, picture := range map[string][]byte{"screenshot": page.Screenshot, "pdf": page.PDF} {
		if p.has(format) && len(picture) == 0 {
			page.Problems = append(page.Problems, trial.Problem{Rule: "page", Field: format, Reason: cmp.Or(page.NotRendered, "only an HTML page that a browser shows has one")})
		}
	}
}

// Size returns the approximate size of a page in a reply, in bytes.
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

// keep removes the parts that were not requested.
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

// cut returns the requested part of a text, and whether there is more.
func (p *Parts) cut(s string) (part string, more bool) {
	s = s[bytesOf(s, p.Offset):]
	if p.Limit == 0 {
		return s, false
	}
	end := bytesOf(s, p.Limit)
	return s[:end], end < len(s)
}

// bytesOf returns the length in bytes of the first n characters.
func bytesOf(s string, n int) (end int) {
	for ; n > 0 && end < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	return end
}

// mainHTML returns the main content of a page as HTML, "" if it has none.
func mainHTML(d *document.Document) string {
	nodes, _ := d.MainNodes() // an unreadable page has none
	var b strings.Builder
	for _, n := range nodes {
		_ = html.Render(&b, n) // cannot fail
	}
	return b.String()
}
