package dom

import (
	"iter"
	"strings"

	"golang.org/x/net/html"
)

// Walker visits a tree in document order, each node once when it is entered and once when it is
// left. It uses no recursion, so the depth of a tree is not limited.
type Walker struct {
	Node    *html.Node
	Leaving bool

	root *html.Node
	over bool // skip the children of Node
}

// Walk starts a walk of a node and its descendants.
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

// Root returns the node at which the walk began.
func (w *Walker) Root() *html.Node { return w.root }

// Skip skips the content of the node that was just entered. It has no effect for a node that is
// left.
func (w *Walker) Skip() { w.over = !w.Leaving }

// Nodes yields a node and its descendants in document order, without the contents of templates.
func Nodes(root *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		for n := root; n != nil && yield(n); n = following(n, root) {
		}
	}
}

// Descendants yields the descendants of root in document order, without the contents of templates,
// unless root is one itself.
func Descendants(root *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		for n := root.FirstChild; n != nil && yield(n); n = following(n, root) {
		}
	}
}

// Elements yields the elements among Nodes.
func Elements(root *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		for n := range Nodes(root) {
			if n.Type == html.ElementNode && !yield(n) {
				return
			}
		}
	}
}

// following returns the next node in root.
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

// RawText returns all text of a node, unchanged: the textContent of the DOM standard. For a
// template element, it is the text of its content.
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
