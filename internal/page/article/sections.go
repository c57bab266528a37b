package article

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/base/truncate"
	"seine/internal/page/dom"
)

// Attributes of a section besides its id, which is the fragment of a URL to it.
const (
	AttrLevel    = "level"    // level of its heading, 1 to 6; 0 for the section before the first heading
	AttrPath     = "path"     // the headings above it, from the outermost
	AttrPosition = "position" // number on the page, from 1

	AttrBreadcrumb = "breadcrumb" // path and own heading
)

// pathSeparator separates the headings of a path.
const pathSeparator = " > "

// maxInPath is the maximum length of a heading in paths, in bytes: many paths may contain it.
const maxInPath = 256

// Sections splits a content, such as that of [Options.Main], at its headings. Each section is a
// heading and the content up to the next heading of any level, so each text is in exactly one
// section. The sections are section elements with the attributes above, in a document with the
// content's base. A heading that is directly followed by a deeper one makes no section: it is in
// the path of those below it.
//
// A heading in a list, a quote, a table or a remark is part of that.
func Sections(content *html.Node) []*html.Node { return sections(content, (*splitter).isKept) }

// Parts is like [Sections], but includes sections that have only a heading: each text of the
// content is in one of them.
func Parts(content *html.Node) []*html.Node {
	return sections(content, func(s *splitter, i int) bool { return s.sections[i].FirstChild != nil })
}

func sections(content *html.Node, isKept func(s *splitter, i int) bool) []*html.Node {
	if content == nil {
		return nil
	}
	s := splitter{headings: findHeadings(content)}
	s.begin(nil, "")
	s.split(content)
	s.end()
	return s.number(document(mathScript(headOf(content))), isKept)
}

// headings are the places where a content is split.
type headings struct {
	anchors map[*html.Node]string // of the headings
	within  map[*html.Node]bool   // elements that contain headings
}

// findHeadings finds the headings at which a content is split, and their anchors.
func findHeadings(content *html.Node) headings {
	h := headings{anchors: make(map[*html.Node]string), within: make(map[*html.Node]bool)}
	for w := dom.Walk(content); w.Next(); {
		switch n := w.Node; {
		case w.Leaving || n.Type != html.ElementNode || isTransparent(n) || n == content:
		case isHeading(n) && hasWord(Text(n)):
			h.anchors[n] = h.anchor(n, content)
			for p := n.Parent; p != nil && !h.within[p]; p = p.Parent {
				h.within[p] = true
				if p == content {
					break
				}
			}
			w.Skip()
		default:
			w.Skip()
		}
	}
	return h
}

func isHeading(n *html.Node) bool {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}

// isTransparent reports whether an element only groups its content. A remark is not transparent:
// its heading is part of the text around it.
func isTransparent(n *html.Node) bool {
	if signOf(n) == signNote {
		return false
	}
	switch n.DataAtom {
	case atom.Div, atom.Section, atom.Article, atom.Main, atom.Header, atom.Hgroup, atom.Center, atom.Form, atom.Span, atom.Body, atom.Html:
		return true
	case atom.Td: // a content may be a cell without its table
		return n.Parent != nil && n.Parent.DataAtom == atom.Div
	}
	return n.DataAtom == 0 // a custom element
}

// anchor returns the id of a heading, of the group whose first heading it is, or of an empty
// element before or in it.
func (h *headings) anchor(n, content *html.Node) string {
	if id := dom.Attribute(n, "id"); id != "" {
		return id
	}
	for p := n.Parent; p != nil && !h.within[p]; p = p.Parent {
		if id := dom.Attribute(p, "id"); id != "" && (p.DataAtom == atom.Section || p.DataAtom == atom.Div || p.DataAtom == atom.Article) {
			return id
		}
		if p == content {
			break
		}
	}
	before := n.PrevSibling
	for before != nil && before.Type == html.TextNode && strings.TrimSpace(before.Data) == "" {
		before = before.PrevSibling
	}
	if before != nil && before.FirstChild == nil && nameOf(before) != "" {
		return nameOf(before)
	}
	for w := dom.Walk(n); w.Next(); {
		if id := nameOf(w.Node); id != "" {
			return id
		}
	}
	return ""
}

// nameOf returns the name by which a link refers to an element.
func nameOf(n *html.Node) string {
	if id := dom.Attribute(n, "id"); id != "" || n.DataAtom != atom.A {
		return id
	}
	return dom.Attribute(n, "name")
}

// splitter copies a content into sections.
type splitter struct {
	headings
	sections []*html.Node
	now      *html.Node // the current section
	line     *html.Node // group of trailing inline content; nil if there is none
	path     []heading  // the headings above the current section, and its own
}

type heading struct {
	level int
	text  string
}

// split walks the content, and the groups that contain headings.
func (s *splitter) split(content *html.Node) {
	for w := dom.Walk(content); w.Next(); {
		n := w.Node
		_, isSplit := s.anchors[n]
		switch {
		case isSplit && w.Leaving:
		case isSplit:
			s.end()
			s.begin(n, s.anchors[n])
			w.Skip()
		case s.within[n] || n == content:
			s.line = nil // a group begins or ends, which separates inline content
		case !w.Leaving:
			s.add(n)
			w.Skip()
		}
	}
}

// begin begins the section of a heading; h is nil for the content before the first heading.
func (s *splitter) begin(h *html.Node, anchor string) {
	level := 0
	s.now, s.line = element(atom.Section), nil
	if h != nil {
		level = int(h.Data[1] - '0')
		for len(s.path) > 0 && s.path[len(s.path)-1].level >= level {
			s.path = s.path[:len(s.path)-1]
		}
		s.path = append(s.path, heading{level, truncate.To(Text(h), maxInPath)})
		new(copier).copy(s.now, h)
	}
	if anchor != "" {
		s.now.Attr = append(s.now.Attr, html.Attribute{Key: "id", Val: anchor})
	}
	s.now.Attr = append(s.now.Attr, html.Attribute{Key: AttrLevel, Val: strconv.Itoa(level)})
	var path []string
	for i := range s.path {
		path = append(path, s.path[i].text)
	}
	s.now.Attr = append(s.now.Attr, html.Attribute{Key: AttrPath, Val: strings.Join(path[:max(len(path)-1, 0)], pathSeparator)},
		html.Attribute{Key: AttrBreadcrumb, Val: strings.Join(path, pathSeparator)})
}

// add copies a node that is not a heading to the end of the section.
func (s *splitter) add(n *html.Node) {
	if s.line == nil && n.Type == html.TextNode && strings.TrimSpace(n.Data) == "" {
		return
	}
	if isBlock(n) || n.DataAtom == atom.Hr {
		s.line = nil
		new(copier).copy(s.now, n)
		return
	}
	if s.line == nil {
		s.line = element(atom.Div)
		s.now.AppendChild(s.line)
	}
	new(copier).copy(s.line, n)
}

// end ends and stores the section.
func (s *splitter) end() { s.sections = append(s.sections, s.now) }

// number puts the kept sections into a document, in their order.
func (s *splitter) number(body *html.Node, isKept func(s *splitter, i int) bool) (kept []*html.Node) {
	for i, n := range s.sections {
		if !isKept(s, i) {
			continue
		}
		body.AppendChild(n)
		kept = append(kept, n)
		n.Attr = append(n.Attr, html.Attribute{Key: AttrPosition, Val: strconv.Itoa(len(kept))})
	}
	return kept
}

// isKept reports whether a section has content that is in no other section and no path.
func (s *splitter) isKept(i int) bool {
	n := s.sections[i]
	first := n.FirstChild
	switch {
	case first == nil:
		return false
	case !isHeading(first):
		return says(n)
	case i+1 < len(s.sections) && dom.Attribute(s.sections[i+1], AttrLevel) > dom.Attribute(n, AttrLevel):
		for c := first.NextSibling; c != nil; c = c.NextSibling {
			if says(c) {
				return true
			}
		}
		return false
	}
	return true
}

// says reports whether a node contains a word or an image.
func says(n *html.Node) bool {
	for w := dom.Walk(n); w.Next(); {
		if w.Node.DataAtom == atom.Img || w.Node.DataAtom == atom.Math || w.Node.Type == html.TextNode && hasWord(w.Node.Data) {
			return true
		}
	}
	return false
}
