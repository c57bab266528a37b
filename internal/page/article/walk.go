package article

import "golang.org/x/net/html"

// walker visits a tree in the order of its text, each node once when it is
// entered and once when it is left, without recursion: a tree may be as deep as
// it likes.
type walker struct {
	root    *html.Node
	node    *html.Node
	leaving bool
	over    bool // the children of node are not wanted
}

// walk starts a visit of a node and all that is in it.
func walk(root *html.Node) *walker { return &walker{root: root} }

// next goes on to the next node, and reports whether there is one.
func (w *walker) next() bool {
	switch {
	case w.root == nil:
		return false
	case w.node == nil:
		w.node = w.root
		return true
	}
	if !w.leaving {
		if w.node.FirstChild != nil && !w.over {
			w.node = w.node.FirstChild
			return true
		}
		w.leaving, w.over = true, false
		return true
	}
	if w.node == w.root {
		return false
	}
	if w.node.NextSibling != nil {
		w.node, w.leaving = w.node.NextSibling, false
		return true
	}
	w.node = w.node.Parent
	return true
}

// skip leaves out what is in the node that was just entered. For one that is
// left it does nothing.
func (w *walker) skip() { w.over = !w.leaving }

// attr returns the value of an attribute, "" if there is none.
func attr(n *html.Node, name string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == name && n.Attr[i].Namespace == "" {
			return n.Attr[i].Val
		}
	}
	return ""
}

func hasAttr(n *html.Node, name string) bool {
	for i := range n.Attr {
		if n.Attr[i].Key == name && n.Attr[i].Namespace == "" {
			return true
		}
	}
	return false
}
