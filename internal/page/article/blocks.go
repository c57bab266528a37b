package article

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// block is one block element of a page, with what was measured in it. Inline
// elements are no blocks; their text counts for the block around them.
type block struct {
	node   *html.Node
	parent int32 // index; -1 for the first
	end    int32 // index behind the last block in this one

	own, ownLink int32 // weight of the text in no inner block, and of the links in it
	text, link   int32 // the same with inner blocks, without dropped ones
	value        int32 // the largest sum of values a copy of this block would have

	sign    classHint
	hasH1   bool // an h1 that is not the name of the site
	isData  bool // a table with headings or a caption
	inData  bool // a cell of such a table
	dropped bool
}

// blocks is the block elements of a tree in the order of the page.
type blocks []block

// measure reads the tree once. It returns nil if there is more of it than
// maxNodes.
func measure(root *html.Node) blocks {
	m := measurer{blocks: blocks{{node: root, parent: -1}}}
	nodes := 0
	for w := dom.Walk(root); w.Next(); {
		if nodes++; nodes > 2*maxNodes { // each is seen twice
			return nil
		}
		m.visit(w)
	}
	m.blocks[0].end = int32(len(m.blocks))
	m.blocks.sum()
	return m.blocks
}

type measurer struct {
	blocks blocks
	at     int32 // the block the walk is in
	links  int   // links the walk is in
}

func (m *measurer) visit(w *dom.Walker) {
	n := w.Node
	switch {
	case n.Type == html.TextNode:
		if !w.Leaving {
			m.count(weigh(n.Data))
		}
	case n.Type != html.ElementNode || n == w.Root():
	case w.Leaving:
		m.leave(n)
	case isUnseen(n):
		w.Skip()
	default:
		m.enter(n)
	}
}

func (m *measurer) count(weight int32) {
	b := &m.blocks[m.at]
	b.own += weight
	if m.links > 0 {
		b.ownLink += weight
	}
}

func (m *measurer) enter(n *html.Node) {
	if isLink(n) {
		m.links++
	}
	if isBlock(n) {
		m.blocks = append(m.blocks, block{node: n, parent: m.at, sign: signOf(n)})
		m.at = int32(len(m.blocks) - 1)
		m.noteTable(n)
	}
}

// noteTable notes which tables hold data, and the cells in them.
func (m *measurer) noteTable(n *html.Node) {
	switch n.DataAtom {
	case atom.Th, atom.Thead, atom.Caption:
		if t := m.table(); t != nil {
			t.isData = true
		}
	case atom.Td:
		t := m.table()
		m.blocks[m.at].inData = t != nil && t.isData
	}
}

// table returns the table that the current block is part of.
func (m *measurer) table() *block {
	i := m.at
	for range 4 { // cell, row, body, table
		if b := &m.blocks[i]; b.node.DataAtom == atom.Table {
			return b
		} else if i = b.parent; i < 0 {
			return nil
		}
	}
	return nil
}

// leave takes the end of an element. One that was skipped has an end too.
func (m *measurer) leave(n *html.Node) {
	if isUnseen(n) {
		return
	}
	if isLink(n) {
		m.links--
	}
	if isBlock(n) {
		m.blocks[m.at].end = int32(len(m.blocks))
		m.at = m.blocks[m.at].parent
	}
}

func isLink(n *html.Node) bool { return n.DataAtom == atom.A && dom.Has(n, "href") }

// sum adds what was measured in each block to the blocks around it, without
// those that are dropped.
func (bs blocks) sum() {
	for i := range bs {
		bs[i].text, bs[i].link, bs[i].hasH1 = 0, 0, false
	}
	for i := len(bs) - 1; i >= 0; i-- {
		b := &bs[i]
		b.text += b.own
		b.link += b.ownLink
		if b.node.DataAtom == atom.H1 && (b.text > b.link || b.link > 0 && !isLogo(b.node)) {
			b.hasH1 = true
		}
		if b.parent >= 0 && !b.dropped {
			p := &bs[b.parent]
			p.text += b.text
			p.link += b.link
			p.hasH1 = p.hasH1 || b.hasH1
		}
	}
}

// isLogo says whether a heading is a link to the front page.
func isLogo(h *html.Node) bool {
	for w := dom.Walk(h); w.Next(); {
		if isLink(w.Node) {
			switch strings.TrimSuffix(dom.Attribute(w.Node, "href"), "/") {
			case "", ".", "..", "#", "index.html", "index.php", "index.htm":
				return true
			}
			return strings.Count(dom.Attribute(w.Node, "href"), "/") == 2 || dom.Attribute(w.Node, "rel") == "home"
		}
	}
	return false
}

// restore brings back what was dropped.
func (bs blocks) restore() {
	for i := range bs {
		bs[i].dropped = false
	}
	bs.sum()
}
