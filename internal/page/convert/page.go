package convert

import (
	"context"
	"html"
	"strconv"
	"strings"
	"time"
	"unicode"

	"seine/internal/base/dates"
	"seine/internal/base/lazyregexp"
)

// page is an HTML page in progress.
type page struct {
	ctx      context.Context
	body     strings.Builder
	full     bool // it has maxHTML bytes; further output is dropped
	hasText  bool
	pictures bool
	pages    int
	heading  string // the first heading, or the first line of a PDF: the title if there is no other
	links    []bool // for each open link, whether it was written
	fresh    bool   // the next text begins the first heading

	title, description, author, language, created, modified string
}

// tag writes markup.
func (p *page) tag(markup string) {
	if p.full || p.body.Len()+len(markup) > maxHTML {
		p.full = true
		return
	}
	p.body.WriteString(markup)
}

// text writes escaped text.
func (p *page) text(s string) {
	if s == "" {
		return
	}
	if !p.hasText && strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		p.hasText = true
	}
	if p.fresh && len(p.heading) < maxTitle {
		p.heading += s
	}
	p.tag(html.EscapeString(strings.ToValidUTF8(strings.Map(visible, s), "\ufffd")))
}

// visible drops control characters.
func visible(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return -1
	}
	return r
}

// startHeading begins a heading of at least level 1, which endHeading ends.
func (p *page) startHeading(level int) {
	p.fresh = p.heading == ""
	p.tag("<h" + strconv.Itoa(min(max(level, 1), 6)) + ">")
}

func (p *page) endHeading(level int) {
	p.fresh = false
	p.tag("</h" + strconv.Itoa(min(max(level, 1), 6)) + ">\n")
}

// section begins the next page, slide or sheet, and ends the previous one.
func (p *page) section(number int) {
	if number > 1 {
		p.tag("</section>\n")
	}
	p.tag(`<section data-page="` + strconv.Itoa(number) + "\">\n")
}

// link begins a link to another file, and returns whether it did. endLink ends it.
func (p *page) link(url string) bool {
	if !absolute().MatchString(url) {
		return false
	}
	p.tag(`<a href="` + html.EscapeString(url) + `">`)
	return true
}

var absolute = lazyregexp.New(`(?i)^(https?://|mailto:)`)

func (p *page) endLink() { p.tag("</a>") }

// startLink begins an element with a URL that may not be a link; closeLink ends the last one.
func (p *page) startLink(url string) { p.links = append(p.links, p.link(url)) }

func (p *page) closeLink() {
	if n := len(p.links); n > 0 {
		if p.links[n-1] {
			p.endLink()
		}
		p.links = p.links[:n-1]
	}
}

// fileName matches the titles that programs write if the author gave none.
var fileName = lazyregexp.New(`(?i)^(untitled|(microsoft \w+ - )?.+\.(docx?|wpd|dvi|tex|indd|qxd|pptx?|xlsx?|rtf|odt)(\W*\[.*\])?)$`)

// html returns the page.
func (p *page) html() []byte {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<html")
	if p.language != "" {
		b.WriteString(` lang="` + html.EscapeString(p.language) + `"`)
	}
	b.WriteString(`><head><meta charset="utf-8">`)
	title := strings.TrimSpace(strings.Map(visible, p.title))
	if title == "" || fileName().MatchString(title) {
		title = p.heading
	}
	b.WriteString("<title>" + html.EscapeString(strings.Map(visible, title)) + "</title>")
	for _, m := range [...][2]string{
		{"description", p.description}, {"author", p.author}, {"dcterms.created", date(p.created)}, {"dcterms.modified", date(p.modified)},
	} {
		if m[1] != "" {
			b.WriteString(`<meta name="` + m[0] + `" content="` + html.EscapeString(m[1]) + `">`)
		}
	}
	b.WriteString("</head><body>\n" + p.body.String() + "</body></html>\n")
	return []byte(b.String())
}

// pdfDate matches the start of a PDF date (PDF 32000-1, section 7.9.4): D:YYYYMMDDHHmmSSOHH'mm'.
var pdfDate = lazyregexp.New(`^(?:D:)?(\d{8})(\d\d)`)

// date returns a PDF date in the form of RFC 3339, and any other text, such as an ISO 8601 date,
// unchanged.
func date(s string) string {
	s = strings.TrimSpace(s)
	plain := pdfDate().ReplaceAllString(s, "${1}T$2")
	plain = strings.NewReplacer("D:", "", "Z00'00'", "Z", "'", "").Replace(plain)
	if d, ok := dates.Parse(plain, time.UTC); ok && plain != s {
		return d.String()
	}
	return s
}
