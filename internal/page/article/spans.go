package article

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// spanKind is a kind of inline content.
type spanKind uint8

const (
	spanText      spanKind = iota // one or more words
	spanSpace                     // between words
	spanBreak                     // a line break
	spanParagraph                 // two or more line breaks
	spanRaw                       // Markdown as is: an image, a note, a checkbox
	spanCode                      // text in code
	spanStrong                    // the kinds from here on have a start and an end
	spanEmphasis
	spanStrike
	spanLink
	spanKinds
)

// span is a piece of inline content. A start and its end refer to each other.
type span struct {
	kind  spanKind
	text  string // for a link, its destination
	pair  int    // index of the other end; its own for a piece without one
	ends  bool
	empty bool // neither end is written
}

// spans is the inline content of a block: words separated by single spaces, and marks adjacent to
// words.
type spans struct {
	*renderer
	list  []span
	tail  []byte // text to append to the last piece, which is a text
	size  int    // pieces that are text
	space bool
	lineB bool // a line break is pending
	rows  int  // number of br elements since the last piece

	cell bool   // in a table cell, where lists become lines
	mark string // of a list item, written before the next piece

	inLink bool
	opened [spanKinds]int // number of open marks of each kind; only the first counts
	wait   []spanKind     // begun, but not written yet
	starts []int          // written, but not ended: indexes of their starts
	dest   string         // of the link in wait
}

// collect adds an inline node, or a block that has to be inline.
func (s *spans) collect(n *html.Node, depth int) {
	switch {
	case n.Type == html.TextNode && s.tex:
		s.textAndTeX(n.Data)
		return
	case n.Type == html.TextNode:
		s.words(n.Data)
		return
	case n.Type != html.ElementNode:
		return
	case depth > maxDepth:
		s.words(Text(n))
		return
	}
	if isBlock(n) {
		s.breakLine()
		defer s.breakLine()
	}
	s.element(n, depth)
}

func (s *spans) children(n *html.Node, depth int) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		s.collect(c, depth+1)
	}
}

func (s *spans) element(n *html.Node, depth int) {
	if label := s.notes.reference(n); label != "" {
		s.add(span{kind: spanRaw, text: "[^" + label + "]"})
		return
	}
	if n.DataAtom != atom.Img && n.DataAtom != atom.Input && s.isLeftOut(n) || s.notes.isBack(n) {
		return
	}
	if tex, display, ok := formula(n); ok {
		raisedSpans{s}.formula(tex, display)
		return
	}
	switch n.DataAtom {
	case atom.Br:
		s.breakLine()
		s.rows++
	case atom.Img:
		s.image(n)
	case atom.Input:
		s.box(n)
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt, atom.Pre:
		s.code(n)
	case atom.A:
		s.link(n, depth)
	case atom.Strong, atom.B:
		s.marked(spanStrong, n, depth)
	case atom.Em, atom.I, atom.Cite, atom.Var, atom.Dfn:
		s.marked(spanEmphasis, n, depth)
	case atom.Del, atom.S, atom.Strike:
		s.marked(spanStrike, n, depth)
	case atom.Sup, atom.Sub:
		raisedSpans{s}.raised(n, depth)
	case atom.Ul, atom.Ol:
		raisedSpans{s}.items(n, depth)
	case atom.Rt:
		reading := isReading(n)
		if reading {
			s.words(parentheses[false])
		}
		s.children(n, depth)
		if reading {
			s.words(parentheses[true])
		}
	case atom.Q:
		s.words("“")
		s.children(n, depth)
		s.words("”")
	default:
		s.children(n, depth)
	}
}

// words adds text with its whitespace folded.
func (s *spans) words(text string) {
	for word, space := range wordsOf(text) {
		s.word(word)
		s.space = s.space || space
	}
}

func (s *spans) word(w string) {
	if w != "" {
		s.add(span{kind: spanText, text: w})
	}
}

func (s *spans) breakLine() { s.lineB = true }

// add adds content after the pending space and marks.
func (s *spans) add(c span) {
	switch {
	case s.size == 0:
	case s.rows > 1 && len(s.starts) == 0:
		s.push(span{kind: spanParagraph})
	case s.lineB:
		s.push(span{kind: spanBreak})
	case s.space:
		s.push(span{kind: spanSpace})
	}
	s.space, s.lineB, s.rows = false, false, 0
	if s.mark != "" {
		s.push(span{kind: spanRaw, text: s.mark})
		s.push(span{kind: spanSpace})
		s.mark = ""
	}
	for _, kind := range s.wait {
		m := span{kind: kind}
		if kind == spanLink {
			m.text = s.dest
		}
		s.starts = append(s.starts, len(s.list))
		s.push(m)
	}
	s.wait = s.wait[:0]
	s.push(c)
	s.size++
}

// push adds a piece. Adjacent texts are one word: its escapes depend on all of it, as in "1" and
// ")".
func (s *spans) push(c span) {
	if n := len(s.list); n > 0 && c.kind == spanText && s.list[n-1].kind == spanText {
		s.tail = append(s.tail, c.text...)
		return
	}
	s.join()
	c.pair = len(s.list)
	s.list = append(s.list, c)
}

// join appends the tail to the last piece.
func (s *spans) join() {
	if len(s.tail) > 0 {
		s.list[len(s.list)-1].text += string(s.tail)
		s.tail = s.tail[:0]
	}
}

func (s *spans) marked(kind spanKind, n *html.Node, depth int) {
	s.open(kind)
	s.children(n, depth)
	s.close(kind)
}

// open begins a mark before the next word. A mark that begins where one of its kind has just ended
// continues that one.
func (s *spans) open(kind spanKind) {
	s.opened[kind]++
	if s.opened[kind] > 1 {
		return
	}
	last := len(s.list) - 1
	if last >= 0 && !s.space && !s.lineB && len(s.wait) == 0 && s.list[last].ends && s.list[last].kind == kind && kind != spanLink {
		s.starts = append(s.starts, s.list[last].pair)
		s.list = s.list[:last]
		return
	}
	s.wait = append(s.wait, kind)
}

// close ends the mark that open began. A mark without a word is dropped.
func (s *spans) close(kind spanKind) {
	s.opened[kind]--
	if s.opened[kind] > 0 {
		return
	}
	if n := len(s.wait); n > 0 && s.wait[n-1] == kind {
		s.wait = s.wait[:n-1]
		return
	}
	start := s.starts[len(s.starts)-1]
	s.starts = s.starts[:len(s.starts)-1]
	end := len(s.list)
	s.push(span{kind: kind, ends: true})
	s.list[end].pair, s.list[start].pair = start, end
}

func (s *spans) openLink(dest string) {
	s.inLink, s.dest = true, dest
	s.open(spanLink)
}

func (s *spans) closeLink() {
	s.close(spanLink)
	s.inLink = false
}

// link adds a link, or only its text if it has no destination or is in another link.
func (s *spans) link(n *html.Node, depth int) {
	dest := ""
	if !s.inLink && dom.Has(n, "href") {
		dest = s.links.absolute(dom.Attribute(n, "href"))
	}
	if dest == "" {
		s.children(n, depth)
		return
	}
	s.openLink(dest)
	s.children(n, depth)
	s.closeLink()
}

// code adds text in code. It ignores inline markup in it.
func (s *spans) code(n *html.Node) {
	if text := strings.ReplaceAll(Text(n), "\n", " "); text != "" {
		s.edge(n, true)
		s.add(span{kind: spanCode, text: text})
		s.edge(n, false)
	}
}

// edge moves a space at an edge of code outside it.
func (s *spans) edge(n *html.Node, first bool) {
	t := n.LastChild
	if first {
		t = n.FirstChild
	}
	if t == nil || t.Type != html.TextNode || t.Data == "" {
		return
	}
	at := 0
	if !first {
		at = len(t.Data) - 1
	}
	if strings.IndexByte(" \t\n\r\f", t.Data[at]) >= 0 {
		s.space = true
	}
}

// image adds an image that has a URL. It omits embedded and tracking images, and one that a
// following noscript element replaces.
func (s *spans) image(n *html.Node) {
	if isHidden(n) || dom.Attribute(n, "width") == "1" || dom.Attribute(n, "height") == "1" || holdsPicture(nextElement(n)) {
		return
	}
	src := s.source(n)
	if src == "" {
		return
	}
	var alt folder
	alt.write(dom.Attribute(n, "alt"))
	s.add(span{kind: spanRaw, text: "![" + string(appendEscaped(nil, alt.b.String(), inCell, false)) + "](" + escapeURL(src) + ")"})
}

// source returns the URL of an image. If a script loads the image late, src is a placeholder, and
// another attribute has the URL. The URL may also be in a source element of a picture element.
func (s *spans) source(img *html.Node) string {
	nodes := []*html.Node{img}
	for c := img.PrevSibling; c != nil && img.Parent.DataAtom == atom.Picture; c = c.PrevSibling {
		nodes = slices.Insert(nodes, 1, c)
	}
	for _, name := range []string{"data-src", "data-lazy-src", "data-original", "data-actualsrc", "data-lazy", "data-srcset", "data-lazy-srcset", "src", "srcset", "data-image", "data-url"} {
		for _, n := range nodes {
			ref := dom.Attribute(n, name)
			if set := strings.Fields(ref); strings.HasSuffix(name, "srcset") && len(set) > 0 {
				ref = strings.TrimRight(set[0], ",")
			}
			if src := s.links.absolute(ref); src != "" && (name == "src" || strings.ContainsAny(ref, "./")) {
				return src
			}
		}
	}
	return ""
}

// holdsPicture reports whether a noscript element only holds an image that replaces one loaded by a
// script, or that has a different alternative text.
func holdsPicture(n *html.Node) bool {
	if n == nil || n.DataAtom != atom.Noscript {
		return false
	}
	picture := false
	for w := dom.Walk(n); w.Next(); {
		if w.Node.Type == html.TextNode && strings.TrimSpace(w.Node.Data) != "" {
			return false
		}
		picture = picture || w.Node.DataAtom == atom.Img && (dom.Attribute(w.Node, "alt") != "" || n.PrevSibling != nil && n.PrevSibling.DataAtom == atom.Img)
	}
	return picture
}

// box adds the checkbox of a task.
func (s *spans) box(n *html.Node) {
	switch {
	case !isTask(n):
	case dom.Has(n, "checked"):
		s.add(span{kind: spanRaw, text: "[x]"})
		s.space = true
	default:
		s.add(span{kind: spanRaw, text: "[ ]"})
		s.space = true
	}
}
