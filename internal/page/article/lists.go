package article

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// list writes a list. Content outside its items becomes an item, except a list, which belongs to
// the item before it.
func (r *renderer) list(n *html.Node, depth int) {
	mark := r.marker(n)
	loose := isLoose(n)
	number := firstNumber(n)
	for c := n.FirstChild; c != nil && !r.out.full(); c = c.NextSibling {
		if c.Type == html.TextNode && strings.TrimSpace(c.Data) == "" || r.isLeftOut(c) {
			continue
		}
		if label := r.notes.label(c); label != "" {
			r.note(c, depth+1)
			continue
		}
		first := string(mark) + " "
		if n.DataAtom == atom.Ol {
			first = strconv.Itoa(number) + first
			number++
		}
		c = r.item(first, c, loose, depth)
	}
	r.out.endBlock()
	r.listEnd, r.listOf = len(r.out.b), mark
}

// marker returns the mark of a list. It differs from an adjacent list's, since Markdown would join
// the two.
func (r *renderer) marker(n *html.Node) byte {
	marks := "-*"
	if n.DataAtom == atom.Ol {
		marks = ".)"
	}
	if r.listEnd > 0 && r.listEnd == len(r.out.b) && r.listOf == marks[0] {
		return marks[1]
	}
	return marks[0]
}

// firstNumber returns the start of an ordered list. Markdown allows up to nine digits and no signs.
func firstNumber(n *html.Node) int {
	start, err := strconv.Atoi(strings.TrimSpace(dom.Attribute(n, "start")))
	if err != nil || start < 0 || start > 99_999_999 {
		return 1
	}
	return start
}

// item writes an item with the lists that directly follow it outside any item, and returns the last
// node that it wrote.
func (r *renderer) item(first string, c *html.Node, loose bool, depth int) *html.Node {
	before := len(r.out.b)
	pushed := r.out.push(first, strings.Repeat(" ", len(first)))
	switch {
	case c.DataAtom != atom.Li:
		r.stray(c, depth)
	case loose:
		r.children(c, depth+1)
	default:
		r.tight(c, depth+1)
	}
	for next := nextElement(c); next != nil && (next.DataAtom == atom.Ul || next.DataAtom == atom.Ol); next = nextElement(c) {
		if !loose {
			r.tightenSince(before)
		}
		r.block(next, depth+1)
		c = next
	}
	if pushed {
		r.out.pop()
	}
	r.out.endBlock()
	if !loose {
		r.tightenSince(before)
	}
	return c
}

// nextElement returns the element after a node, or nil if text comes between.
func nextElement(n *html.Node) *html.Node {
	for n = n.NextSibling; n != nil && n.Type != html.ElementNode; n = n.NextSibling {
		if n.Type == html.TextNode && strings.TrimSpace(n.Data) != "" {
			return nil
		}
	}
	return n
}

// stray writes content of a list that is outside its items.
func (r *renderer) stray(c *html.Node, depth int) {
	if isBlock(c) || r.holders[c] {
		r.block(c, depth+1)
		return
	}
	r.paragraph([]*html.Node{c}, depth)
}

// tight writes an item without empty lines within it.
func (r *renderer) tight(n *html.Node, depth int) {
	before := len(r.out.b)
	var run []*html.Node
	flush := func() {
		r.paragraph(run, depth)
		run = run[:0]
		r.tightenSince(before)
	}
	for c := n.FirstChild; c != nil && !r.out.full(); c = c.NextSibling {
		if !isBlock(c) && !r.holders[c] {
			run = append(run, c)
			continue
		}
		flush()
		r.block(c, depth+1)
		r.tightenSince(before)
	}
	flush()
}

// tightenSince removes the empty line after the text written since the output had this length, if
// any.
func (r *renderer) tightenSince(before int) {
	if len(r.out.b) > before {
		r.out.tighten()
	}
}

// isLoose reports whether a list has empty lines between its items: if one of them has several
// blocks, or one that is more than a paragraph.
func isLoose(n *html.Node) bool {
	for li := n.FirstChild; li != nil; li = li.NextSibling {
		if li.DataAtom == atom.Ul || li.DataAtom == atom.Ol {
			continue
		}
		parts := 0
		text := false
		for c := li.FirstChild; c != nil; c = c.NextSibling {
			switch {
			case c.DataAtom == atom.Ul || c.DataAtom == atom.Ol:
			case !isBlock(c):
				text = text || c.Type == html.ElementNode || c.Type == html.TextNode && strings.TrimSpace(c.Data) != ""
			case c.DataAtom != atom.P && !isPlainGroup(c):
				return true
			default:
				parts++
			}
		}
		if parts > 1 || parts > 0 && text {
			return true
		}
	}
	return false
}

// isPlainGroup reports whether an element is a div without blocks.
func isPlainGroup(n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if isBlock(c) {
			return false
		}
	}
	return n.DataAtom == atom.Div
}

// definitions writes a definition list as a list: each group of terms in bold, with its definitions
// below.
func (r *renderer) definitions(n *html.Node, depth int) {
	d := definitions{renderer: r}
	d.write(n, depth)
	d.leave()
	r.out.endBlock()
	r.listEnd, r.listOf = len(r.out.b), '-'
}

type definitions struct {
	*renderer
	inItem  bool // an item was begun
	pushed  bool
	defined bool // the item has a definition
}

func (d *definitions) write(n *html.Node, depth int) {
	for c := n.FirstChild; c != nil && !d.out.full(); c = c.NextSibling {
		switch {
		case c.DataAtom == atom.Dt:
			d.enter()
			d.strong(c, depth+1)
		case c.DataAtom == atom.Dd:
			if !d.inItem {
				d.enter()
			}
			d.defined = true
			d.note(c, depth+1)
		case c.DataAtom == atom.Div && depth <= maxDepth:
			d.write(c, depth+1) // groups of terms may be in a div
		case isBlock(c):
			d.block(c, depth+1)
		}
	}
}

// enter begins an item, unless the last one has only terms.
func (d *definitions) enter() {
	if d.inItem && !d.defined {
		return
	}
	d.leave()
	d.pushed = d.out.push("- ", "  ")
	d.inItem, d.defined = true, false
}

func (d *definitions) leave() {
	if d.inItem && d.pushed {
		d.out.pop()
	}
	d.out.endBlock()
	d.inItem = false
}
