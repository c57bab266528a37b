package mediatype

import (
	"bytes"
	"strings"

	"seine/internal/base/ascii"
)

// findMarkup classifies a body that begins with "<": by its root element, or as HTML by the
// elements that pages begin with.
func findMarkup(start []byte, declared Class) finding {
	prolog := bytes.HasPrefix(start, []byte("<?xml"))
	r := rootOf(start)
	switch r.local() {
	case "":
		return unfinished(prolog)
	case "!html":
		return finding{mediaHTML, HTML}
	case "html":
		if (prolog || declared == XML) && bytes.Contains(r.tag, []byte("http://www.w3.org/1999/xhtml")) {
			return finding{mediaXHTML, HTML}
		}
		return finding{mediaHTML, HTML}
	case "rss":
		return finding{mediaRSS, Feed}
	case "feed":
		if !bytes.Contains(r.tag, []byte("xmlns")) || namesAtom(r.tag) {
			return finding{mediaAtom, Feed}
		}
	case "rdf":
		if namesRSS(r.tag) || namesRSS(r.after) {
			return finding{mediaRSS, Feed}
		}
	case "urlset", "sitemapindex":
		return finding{mediaXML, Sitemap}
	case "svg":
		return finding{mediaSVG, Image}
	}
	switch {
	case prolog || r.doctype:
		return finding{mediaXML, XML}
	case pageElement(r.name) && declared != XML: // in XML any element may have these names
		return finding{mediaHTML, HTML}
	case declared == Other && bytes.Contains(r.tag, []byte("xmlns")):
		return finding{mediaXML, XML}
	}
	return finding{}
}

func unfinished(prolog bool) finding {
	if prolog {
		return finding{mediaXML, XML}
	}
	return finding{}
}

// namesAtom reports whether b has the namespace of Atom 1.0 (RFC 4287, section 2) or 0.3.
func namesAtom(b []byte) bool {
	b = bytes.ToLower(b)
	return bytes.Contains(b, []byte("://www.w3.org/2005/atom")) || bytes.Contains(b, []byte("://purl.org/atom/"))
}

// namesRSS reports whether b has the namespace of RSS 1.0 or 0.90, which are RDF.
func namesRSS(b []byte) bool {
	return bytes.Contains(b, []byte("://purl.org/rss/1.0")) || bytes.Contains(b, []byte(".netscape.com/rdf/simple/0.9/"))
}

// pageElement reports whether an element is one by which the standard recognises HTML (section
// 7.1), or one with which pages begin that omit the usual first elements.
func pageElement(name []byte) bool {
	switch strings.ToLower(string(name)) {
	case "head", "script", "iframe", "h1", "div", "font", "table", "a", "style", "title", "b", "body", "br", "p",
		"meta", "link", "center", "h2", "h3", "ul", "form", "main", "article", "section", "header", "span":
		return true
	}
	return false
}

// root is the first element of a document.
type root struct {
	name    []byte // including its prefix
	tag     []byte // from the name to the end of the tag
	after   []byte // text that follows
	doctype bool   // the document has a document type
}

// local returns the name without a prefix, in lower case. It is "!html" for a document type of HTML
// other than XHTML's.
func (r root) local() string {
	name := r.name
	if i := bytes.LastIndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	return strings.ToLower(string(name))
}

// rootOf returns the first element after declarations, comments and the document type. It has no
// name if there is none.
func rootOf(b []byte) root {
	var r root
	for {
		b = trimLeft(b)
		switch {
		case bytes.HasPrefix(b, []byte("<!--")):
			b = after(b, "-->")
		case bytes.HasPrefix(b, []byte("<?")):
			b = after(b, ">")
		case ascii.HasPrefix(b, "<!doctype"):
			if plainHTML(b) {
				return root{name: []byte("!html")}
			}
			r.doctype = true
			b = afterDoctype(b)
		case len(b) > 1 && b[0] == '<' && isName(b[1]):
			return r.element(b[1:])
		default:
			return r
		}
	}
}

func (r root) element(b []byte) root {
	end := 0
	for end < len(b) && isName(b[end]) {
		end++
	}
	last := bytes.IndexByte(b, '>')
	if last < 0 {
		last = len(b)
	}
	r.name, r.tag, r.after = b[:end], b[:last], b[last:]
	return r
}

// plainHTML reports whether a document type is HTML and has no identifier of XHTML.
func plainHTML(b []byte) bool {
	name := trimLeft(b[len("<!doctype"):])
	if !ascii.HasPrefix(name, "html") || len(name) > 4 && isName(name[4]) {
		return false
	}
	end := bytes.IndexByte(name, '>')
	return end < 0 || !bytes.Contains(name[:end], []byte("XHTML"))
}

// afterDoctype skips a document type, including its declarations, if any.
func afterDoctype(b []byte) []byte {
	end, open := bytes.IndexByte(b, '>'), bytes.IndexByte(b, '[')
	if open >= 0 && open < end {
		return after(after(b, "]"), ">")
	}
	return after(b, ">")
}

// after returns the text after end, or nothing if end is missing.
func after(b []byte, end string) []byte {
	_, rest, _ := bytes.Cut(b, []byte(end))
	return rest
}

func isName(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == ':' || c == '-' || c == '_' || c == '.' || c >= 0x80
}
