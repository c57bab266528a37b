package article

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// copyMain copies the block at main, or all blocks to be kept, into a new document. Its head has
// the script that renders formulas, and its body the content.
func (bs blocks) copyMain(main int32, math *html.Node, all bool, prefer Preference) *html.Node {
	c := bs.copier(main, all)
	root := bs[main].node
	content := element(atom.Div)
	if isContainer(root) {
		content = uncovered(root)
	}
	if h := bs.heading(main); h != nil && prefer != Precision {
		c.copy(content, h)
	}
	if isContainer(root) || root.Type == html.DocumentNode || root.DataAtom == atom.Body || root.DataAtom == atom.Html {
		c.copyChildren(content, root)
	} else {
		c.copy(content, root)
	}
	document(math).AppendChild(content)
	return content
}

// copier returns a copier that omits the dropped blocks in a block.
func (bs blocks) copier(at int32, all bool) copier {
	c := copier{dropped: map[*html.Node]bool{}, all: all}
	for i := at + 1; i < bs[at].end; i++ {
		if bs[i].dropped {
			c.dropped[bs[i].node] = true
			i = bs[i].end - 1
		}
	}
	return c
}

// isContainer reports whether a heading can be inserted as the first child of an element.
func isContainer(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Div, atom.Section, atom.Article, atom.Main:
		return true
	}
	return false
}

// heading returns the h1 of the page if it precedes the main content.
func (bs blocks) heading(main int32) *html.Node {
	if bs[main].hasH1 {
		return nil
	}
	for b := range bs.kept(0, main) {
		if b.node.DataAtom == atom.H1 && b.hasH1 {
			return b.node
		}
	}
	return nil
}

// document returns the body of a new document, whose head has the script math unless it is nil.
func document(math *html.Node) *html.Node {
	root, head, body := element(atom.Html), element(atom.Head), element(atom.Body)
	if math != nil {
		head.AppendChild(shallow(math))
	}
	root.AppendChild(head)
	root.AppendChild(body)
	return body
}

func element(a atom.Atom) *html.Node {
	return &html.Node{Type: html.ElementNode, DataAtom: a, Data: a.String()}
}

// shallow copies a node without its children. The copy shares the attributes, which must not be
// changed.
func shallow(n *html.Node) *html.Node {
	return &html.Node{Type: n.Type, DataAtom: n.DataAtom, Data: n.Data, Namespace: n.Namespace, Attr: n.Attr[:len(n.Attr):len(n.Attr)]}
}

type copier struct {
	dropped map[*html.Node]bool
	all     bool // copy hidden elements and make them visible
}

func (c *copier) copyChildren(to, from *html.Node) {
	for child := from.FirstChild; child != nil; child = child.NextSibling {
		c.copy(to, child)
	}
}

// copy appends a copy of a node and its kept content.
func (c *copier) copy(to, from *html.Node) {
	for w := dom.Walk(from); w.Next(); {
		n := w.Node
		switch {
		case n.Type != html.TextNode && n.Type != html.ElementNode:
		case n.Type == html.ElementNode && (c.dropped[n] || skips(n, c.all)):
			w.Skip()
		case w.Leaving && n.Type == html.ElementNode:
			to = to.Parent
		case n.Type == html.ElementNode:
			e := uncovered(n)
			to.AppendChild(e)
			to = e
		case !w.Leaving:
			to.AppendChild(shallow(n))
		}
	}
}
