package feed

import (
	"cmp"
	"encoding/xml"
	"strings"
)

// links are the links of a feed or an item to its page, the first of each kind.
type links struct {
	text  string // the text of a link of RSS
	html  string // a link of Atom to HTML, or without a type
	other string // a link of Atom to another type
}

func (l *links) url() string { return cmp.Or(l.text, l.html, l.other) }

// addLink reads a link of Atom, whose URL is an attribute, and reports whether the element was one.
func (p *parser) addLink(e element, t xml.StartElement) bool {
	href := reference(t, "href")
	if e.name != "link" || href == "" {
		return false
	}
	if !isAlternate(attr(t, "rel")) {
		return true
	}
	switch strings.ToLower(attr(t, "type")) {
	case "", "text/html", "application/xhtml+xml":
		set(&p.pages().html, e.at.resolve(href))
	default:
		set(&p.pages().other, e.at.resolve(href))
	}
	return true
}

// isAlternate reports whether a relation is from a feed or item to its page (RFC 4287 section
// 4.2.7.2).
func isAlternate(rel string) bool {
	rel = strings.TrimPrefix(rel, "http://www.iana.org/assignments/relation/")
	return rel == "" || strings.EqualFold(rel, "alternate")
}
