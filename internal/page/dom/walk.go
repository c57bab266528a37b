package dom

import (
	"iter"
	"strings"

	"golang.org/x/net/html"
)

// Walker visits a tree in the order of its text, each node once when it is
// entered and once when it is left, without recursion: a tree may be as deep as
// it likes.
type Walker struct {
	Node    *html.Node
	Leaving bool

	root *html.Node
	over bool // the children of Node are not wanted
}

// Walk starts a visit of a node and all that is in it.
func Walk(root *html.Node) *Walker { return &Walker{root: root} }

// Next advances to the next node, and reports whether there is one.
func (w *Walker) Next() bool {
	switch {
	case w.root == nil:
		return false
	case w.Node == nil:
		w.Node = w.root
		return true
	}
	if !w.Leaving {
		if w.Node.FirstChild != nil && !w.over {
			w.Node = w.Node.FirstChild
			return true
		}
		w.Leaving, w.over = true, false
		return true
	}
	if w.Node == w.root {
		return false
	}
	if w.Node.NextSibling != nil {
		w.Node, w.Leaving = w.Node.NextSibling, false
		return true
	}
	w.Node = w.Node.Parent
	return true
}

// Root is the node that the visit began with.
func (w *Walker) Root() *html.Node { return w.root }

// Skip leaves out what is in the node that was just entered. For one that is
// left it does nothing.
func (w *Walker) Skip() { w.over = !w.Leaving }

// Nodes are a node and those below it in document order, without what templates hold.
func Nodes(root *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		for n := root; n != nil && yield(n); n = following(n, root) {
		}
	}
}

// Descendants are the nodes below root in document order, without what templates
// hold, unless root is one itself.
func Descendants(root *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		for n := root.FirstChild; n != nil && yield(n); n = following(n, root) {
		}
	}
}

// Elements are the elements among Nodes.
func Elements(root *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		for n := range Nodes(root) {
			if n.Type == html.ElementNode && !yield(n) {
				return
			}
		}
	}
}

// following returns the node that comes next in root.
func following(n, root *html.Node) *html.Node {
	if n.FirstChild != nil && !IsTemplate(n) {
		return n.FirstChild
	}
	for ; n != root && n != nil; n = n.Parent {
		if n.NextSibling != nil {
			return n.NextSibling
		}
	}
	return nil
}

// RawText returns all the text in a node, as it is: the textContent of the DOM
// standard. Of a template element, it is the text that it holds.
func RawText(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	if c := n.FirstChild; c != nil && c.NextSibling == nil && c.Type == html.TextNode {
		return c.Data
	}
	var b strings.Builder
	for c := range Descendants(n) {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}
