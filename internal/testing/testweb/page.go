package testweb

import (
	"slices"
	"strconv"
	"sync"
)

// page writes one HTML page into its buffer.
type page struct {
	site *site
	r    rng
	b    []byte

	host, number int
	base         string // host and port as the client named them
	port         string // ":8080" or ""
	path         []byte // of the page itself
	depth        int    // number of folders from the base of relative links up to "/"

	links []link
	next  int // index of the first link not yet written
	goal  int // target size in bytes
}

var pages = sync.Pool{New: func() any { return &page{} }}

// newPage takes a page from the pool; release returns it.
func newPage(s *site, host, number int, base string) *page {
	p := pages.Get().(*page)
	*p = page{
		site: s, r: rng(s.hash(host, number, saltBody)), b: p.b[:0], path: p.path[:0], links: p.links[:0],
		host: host, number: number, base: base, port: portOf(base), goal: s.size(host, number),
	}
	return p
}

// maxPooled is the largest buffer that the pool keeps.
const maxPooled = 1 << 20

func (p *page) release() {
	if cap(p.b) > maxPooled {
		p.b = nil
	}
	pages.Put(p)
}

// writeTree writes a page of the tree, with all its links.
func (p *page) writeTree() []byte {
	p.path = p.site.appendPath(p.path, p.host, p.number)
	p.depth = depthOf(p.path)
	p.links = p.site.appendLinks(p.links, p.host, p.number, &p.r)
	p.write()
	return p.b
}

// writePrivate writes the page with this number below /private/: a short one with random links
// only.
func (p *page) writePrivate() []byte {
	p.path = p.site.appendPrivate(p.path, p.host, p.number)
	p.depth = depthOf(p.path)
	p.links = append(p.links, p.site.randomLink(p.host, &p.r))
	p.goal = min(p.goal, 2<<10)
	p.write()
	return p.b
}

func (p *page) write() {
	p.head()
	for len(p.b) < p.goal {
		p.block()
	}
	if p.next < len(p.links) {
		p.list(len(p.links) - p.next)
	}
	p.foot()
}

func (p *page) str(s string) { p.b = append(p.b, s...) }
func (p *page) num(n int)    { p.b = strconv.AppendInt(p.b, int64(n), 10) }
func (p *page) word() string { return p.site.text.words[p.r.intn(wordCount)] }
func (p *page) sentence()    { p.str(p.site.text.sentences[p.r.intn(sentenceCount)]) }
func (p *page) phrase(n int) { // n words, as plain text
	for i := range n {
		if i > 0 {
			p.str(" ")
		}
		p.str(p.word())
	}
}

func (p *page) head() {
	p.str("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Page ")
	p.num(p.number)
	p.str(" of host ")
	p.num(p.host)
	p.str(": ")
	p.phrase(3)
	p.str("</title>\n<meta name=\"description\" content=\"About ")
	p.phrase(8)
	p.str(" &amp; more\">\n<meta name=\"viewport\" content=\"width=device-width\">\n")
	p.canonical()
	if p.r.intn(32) == 0 {
		p.str("<base href=\"/\">\n")
		p.depth = 0
	}
	p.str("<link rel=\"stylesheet\" href=\"/static/site.css\">\n<script>\nvar page = {id: ")
	p.num(p.number)
	p.str(", next: \"<a href='" + HiddenPrefix + "script-")
	p.num(p.number)
	p.str("'>\", ok: 1 < 2};\n</script>\n</head>\n<body>\n<header><nav><a href=\"/\">Home</a>" +
		" <a href=\"#main\">Skip</a> <a href=\"mailto:web@example.org\">Mail</a>" +
		" <a href=\"javascript:void(0)\">Menu</a></nav></header>\n<main id=\"main\">\n<h1>")
	p.phrase(4)
	p.str("</h1>\n")
}

func (p *page) canonical() {
	p.str("<link rel=\"canonical\" href=\"http://")
	p.str(p.base)
	p.escaped(p.path)
	p.str("\">\n")
}

func (p *page) foot() {
	p.str("</main>\n<!-- <a href=\"" + HiddenPrefix + "comment-")
	p.num(p.number)
	p.str("\">old</a> -->\n")
	if n := p.site.padding(p.host, p.number); n > 0 {
		p.pad(n)
	}
	p.str("<footer><p>&copy; testweb, host ")
	p.num(p.host)
	p.str(". <a href=\"/\" rel=\"home\">Top</a></p></footer>\n</body>\n</html>\n")
}

// pad writes a comment with n random characters.
func (p *page) pad(n int) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	p.b = slices.Grow(p.b, n+16)
	p.str("<!-- ")
	for bits := uint64(0); n > 0; n-- {
		if n%10 == 0 || bits == 0 {
			bits = p.r.next()
		}
		p.b = append(p.b, alphabet[bits%64])
		bits >>= 6
	}
	p.str(" -->\n")
}

// block writes the next piece of content: one with links while the links lag behind the text, else
// plain text.
func (p *page) block() {
	left := len(p.links) - p.next
	if left == 0 || p.next*p.goal > len(p.b)*len(p.links) {
		p.text()
		return
	}
	switch p.r.intn(4) {
	case 0:
		p.list(min(left, 3+p.r.intn(3)))
	case 1:
		p.table(min(left, 3))
	default:
		p.paragraph()
	}
}

func (p *page) text() {
	switch p.r.intn(8) {
	case 0:
		p.str("<h2>")
		p.phrase(3)
		p.str("</h2>\n")
	case 1:
		p.str("<figure><img src=\"/static/dot.png\" alt=\"")
		p.phrase(2)
		p.str("\"></figure>\n")
	}
	p.str("<p>")
	for range 3 + p.r.intn(4) {
		p.sentence()
	}
	p.str("</p>\n")
}

func (p *page) paragraph() {
	p.str("<p>")
	p.sentence()
	p.link()
	p.str(" ")
	p.sentence()
	p.str("</p>\n")
}

func (p *page) list(n int) {
	p.str("<ul>\n")
	for range n {
		p.str("<li>")
		p.link()
		p.str("\n")
	}
	p.str("</ul>\n")
}

func (p *page) table(n int) {
	p.str("<table>\n<tr><th>Name</th><th>Value</th></tr>\n")
	for range n {
		p.str("<tr><td>")
		p.link()
		p.str("</td><td>")
		p.num(p.r.intn(1000))
		p.str("</td></tr>\n")
	}
	p.str("</table>\n")
}
