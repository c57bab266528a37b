package css

import (
	"iter"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// IsTemplate reports whether a node is a template element of HTML. What it holds is
// no part of the page (HTML standard section 4.12.3), though the tree has it below.
func IsTemplate(n *html.Node) bool {
	return n.DataAtom == atom.Template && n.Type == html.ElementNode && n.Namespace == ""
}

// Descendants are the nodes below root in document order, without what templates
// hold, unless root is one itself.
func Descendants(root *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		for n := root.FirstChild; n != nil; n = following(n, root) {
			if !yield(n) {
				return
			}
		}
	}
}

// following returns the node that comes next below root.
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
