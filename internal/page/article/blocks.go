package article

import (
	"iter"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// block is one block element of a page, with its measurements. Inline elements are not blocks;
// their text counts for the block that contains them.
type block struct {
	node   *html.Node
	kind   pageKind // of the page; set only in the first block
	about  string   // letters of the JSON-LD of a product; set only in the first block
	at     int32    // index
	parent int32    // index; -1 for the first
	end    int32    // index after the last block in this one

	own, ownLink int32 // weight of the text outside inner blocks, and of the links in it
	text, link   int32 // the same including inner blocks that are not dropped
	value        int32 // score of the block, including blocks in it that are worth keeping

	sign    classHint
	isPost  bool // a word in class or id says that it is a post
	hasH1   bool // it has an h1 that is not the name of the site
	isData  bool // a table with headings or a caption
	inData  bool // a cell of such a table
	dropped bool
}

// blocks are the block elements of a tree in document order.
type blocks []block

// kept yields the blocks of a range, without dropped ones and their content.
func (bs blocks) kept(from, to int32) iter.Seq[*block] {
	return func(yield func(*block) bool) {
		for i := from; i < to; {
			b := &bs[i]
			if !b.dropped && !yield(b) {
				return
			}
			if i++; b.dropped {
				i = b.end
			}
		}
	}
}

// measure reads the tree once, including hidden elements if all is set, and returns the weight of
// the hidden text. It returns nil if the tree has more than maxNodes nodes.
func measure(root *html.Node, all bool) (_ blocks, hidden int32) {
	m := measurer{blocks: blocks{{node: root, parent: -1}}, all: all}
	m.readHead(headOf(root))
	nodes := 0
	for w := dom.Walk(root); w.Next(); {
		if nodes++; nodes > 2*maxNodes { // each is visited twice
			return nil, 0
		}
		m.visit(w)
	}
	m.blocks[0].end = int32(len(m.blocks))
	m.blocks.sum()
	return m.blocks, m.hidden
}

type measurer struct {
	blocks blocks
	at     int32 // the current block
	links  int   // number of open links
	all    bool  // hidden elements count too
	hidden int32 // weight of hidden text
}

// readHead reads the properties of the page from its head.
func (m *measurer) readHead(head *html.Node) {
	if head == nil {
		return
	}
	for n := head.FirstChild; n != nil; n = n.NextSibling {
		m.noteKind(n)
	}
}

// noteKind records the page's kind if an element declares it.
func (m *measurer) noteKind(n *html.Node) {
	b, kind := &m.blocks[0], kindOf(n)
	if b.kind = max(b.kind, kind); kind == kindProduct && n.FirstChild != nil {
		b.about += letters(n.FirstChild.Data, maxAbout-len(b.about))
	}
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
	case skips(n, m.all):
		if isCovered(n) {
			m.hidden += weighTree(n)
		}
		m.noteKind(n)
		w.Skip()
	default:
		m.noteKind(n)
		m.enter(n)
	}
}

// skips reports whether an element is not part of the page. If all is set, hidden elements are part
// of it.
func skips(n *html.Node, all bool) bool { return isUnseen(n) && !(all && isCovered(n)) }

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
		at := int32(len(m.blocks))
		m.blocks = append(m.blocks, newBlock(n, at, m.at))
		m.at = at
		m.noteTable(n)
	}
}

func newBlock(n *html.Node, at, parent int32) block {
	hint := hintOf(n)
	return block{node: n, at: at, parent: parent, sign: hint &^ signPost, isPost: hint&signPost != 0}
}

// noteTable marks tables of data and their cells.
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

// table returns the table that contains the current block, or nil.
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

// leave handles the end of an element. Skipped elements have an end too.
func (m *measurer) leave(n *html.Node) {
	if skips(n, m.all) {
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

// sum adds the measurements of each block to the blocks that contain it, without those of dropped
// blocks.
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

// isLogo reports whether a heading is a link to the front page.
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

// restore restores all dropped blocks.
func (bs blocks) restore() {
	for i := range bs {
		bs[i].dropped = false
	}
	bs.sum()
}
