package article

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// Markdown returns a node and its content as Markdown: CommonMark 0.31 with the tables, task lists
// and strikethrough of GitHub Flavored Markdown. It uses GitHub's footnotes for notes with links
// there and back, and its formulas for formulas in TeX. Superscripts and subscripts are HTML if
// they would be misread otherwise (10 to the 5). Links and images are absolute; base is the base
// URL of the page.
//
// The words are those of [Text], except that an image has its alternative text and form controls
// have none. A definition list becomes a list whose items begin with their terms in bold. A table
// becomes one if each cell fits on one line; a table that is only layout is written cell by cell.
//
// The result ends with a newline unless it is empty.
func Markdown(n *html.Node, base string) string {
	if n == nil {
		return ""
	}
	r := renderer{links: newLinks(base), holders: findHolders(n)}
	if r.holders == nil {
		return "" // beyond maxNodes
	}
	r.notes, r.tex = findNotes(n), mathScript(headOf(n)) != nil
	if n.Type == html.DocumentNode || isBlock(n) || r.holders[n] {
		r.block(n, 0)
	} else {
		r.paragraph([]*html.Node{n}, 0)
	}
	return r.out.String()
}

// renderer writes one node as Markdown.
type renderer struct {
	out     markdownLines
	links   links
	notes   footnotes
	tex     bool                // a script renders TeX in the text
	holders map[*html.Node]bool // inline elements that contain blocks

	href    string // link that contains the current blocks; "" for none
	listEnd int    // output length at the end of the last list
	listOf  byte   // its marker
}

// findHolders returns the inline elements that contain blocks. It returns nil if there are more
// than maxNodes nodes.
func findHolders(root *html.Node) map[*html.Node]bool {
	m := map[*html.Node]bool{}
	nodes := 0
	for w := dom.Walk(root); w.Next(); {
		if nodes++; nodes > 2*maxNodes {
			return nil
		}
		if w.Leaving || w.Node == root || !isBlock(w.Node) && w.Node.DataAtom != atom.Hr {
			continue
		}
		for p := w.Node.Parent; p != nil && !isBlock(p) && !m[p]; p = p.Parent {
			m[p] = true
			if p == root {
				break
			}
		}
	}
	return m
}

// block writes an element that is or contains a block.
func (r *renderer) block(n *html.Node, depth int) {
	switch {
	case n.Type == html.DocumentNode:
		r.children(n, depth)
		return
	case isSilent(n) && n.DataAtom != atom.Head || r.isLeftOut(n):
		return
	case depth > maxDepth:
		r.plain(n)
		return
	}
	if tex, display, ok := formula(n); ok {
		r.out.text(dollars(tex, display))
		r.out.endBlock()
		return
	}
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.heading(n, depth)
	case atom.Pre, atom.Listing, atom.Xmp:
		r.code(n)
	case atom.Blockquote:
		r.nested("> ", "> ", n, depth)
	case atom.Ul, atom.Ol, atom.Menu:
		r.list(n, depth)
	case atom.Dl:
		r.definitions(n, depth)
	case atom.Table:
		r.table(n, depth)
	case atom.Hr:
		r.out.text("---")
		r.out.endBlock()
	case atom.Summary, atom.Dt, atom.Legend:
		r.strong(n, depth)
	case atom.A:
		r.linked(n, depth)
	default:
		r.note(n, depth)
	}
}

// remarks are the classes of remarks, such as warnings, in the output of common documentation
// generators.
var remarks = classes(`admonition admonitionblock callout theme-admonition notecard`)

// note writes an element, as a footnote if it is the target of a reference, and as a quote if it is
// a remark.
func (r *renderer) note(n *html.Node, depth int) {
	label := r.notes.label(n)
	if label == "" && (remarks.has(n) || dom.Attribute(n, "role") == "note") && isBlock(n) {
		r.nested("> ", "> ", n, depth)
		return
	}
	if label == "" {
		r.children(n, depth)
		return
	}
	r.nested("[^"+label+"]: ", "    ", n, depth)
}

// nested writes the content of an element with prefixes before its lines.
func (r *renderer) nested(first, rest string, n *html.Node, depth int) {
	pushed := r.out.push(first, rest)
	r.children(n, depth)
	if pushed {
		r.out.pop()
	}
	r.out.endBlock()
}

// isLeftOut reports whether an element is not visible or is to be clicked.
func (r *renderer) isLeftOut(n *html.Node) bool {
	return n.Type != html.ElementNode && n.Type != html.TextNode || isUnseen(n) && n.DataAtom != atom.Label
}

// children writes the content of an element: blocks, and the content between them as paragraphs.
func (r *renderer) children(n *html.Node, depth int) {
	var run []*html.Node
	for c := n.FirstChild; c != nil && !r.out.full(); c = c.NextSibling {
		if !isBlock(c) && !r.holders[c] {
			run = append(run, c)
			continue
		}
		r.paragraph(run, depth)
		run = run[:0]
		r.block(c, depth+1)
	}
	r.paragraph(run, depth)
}

func (r *renderer) paragraph(run []*html.Node, depth int) {
	s := r.inline(run, depth)
	lines := s.lines(inParagraph)
	if len(lines) == 0 {
		return
	}
	for _, line := range lines {
		if line == "" {
			r.out.endBlock()
			continue
		}
		if r.out.midline {
			r.out.newline()
		}
		r.out.text(line)
	}
	r.out.endBlock()
}

// inline collects inline content, within the containing link, if any.
func (r *renderer) inline(run []*html.Node, depth int) *spans {
	s := &spans{renderer: r}
	if r.href != "" && len(run) > 0 {
		s.openLink(r.href)
	}
	for _, n := range run {
		s.collect(n, depth)
	}
	if s.inLink {
		s.closeLink()
		if s.size > 0 {
			r.href = "" // only the first line has the link
		}
	}
	return s
}

func (r *renderer) heading(n *html.Node, depth int) {
	s := r.inline([]*html.Node{n}, depth)
	if line := s.line(inHeading); line != "" {
		r.out.text(strings.Repeat("#", int(n.Data[1]-'0')) + " " + line)
		r.out.endBlock()
	}
}

// strong writes a label as a paragraph in bold.
func (r *renderer) strong(n *html.Node, depth int) {
	s := &spans{renderer: r}
	s.open(spanStrong)
	s.children(n, depth)
	s.close(spanStrong)
	if line := s.line(inHeading); line != "" {
		r.out.text(line)
		r.out.endBlock()
	}
}

// linked writes blocks in a link. Markdown cannot express that, so the first line that has text is
// the link.
func (r *renderer) linked(n *html.Node, depth int) {
	if href := r.links.absolute(dom.Attribute(n, "href")); href != "" && r.href == "" {
		r.href = href
	}
	r.children(n, depth)
	r.href = ""
}

// plain writes the text of a node.
func (r *renderer) plain(n *html.Node) {
	for line := range strings.Lines(Text(n)) {
		r.out.text(escape(strings.TrimSuffix(line, "\n"), inParagraph))
		r.out.endBlock()
	}
}
