// Package dom has helpers for readers of a page's tree: traversal and classification of elements.
// The tree is that of golang.org/x/net/html.
package dom

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Find returns an attribute without a namespace, and whether it exists.
func Find(n *html.Node, name string) (string, bool) {
	for i := range n.Attr {
		if n.Attr[i].Key == name && n.Attr[i].Namespace == "" {
			return n.Attr[i].Val, true
		}
	}
	return "", false
}

// Attribute returns the value of an attribute without a namespace, or "".
func Attribute(n *html.Node, name string) string {
	v, _ := Find(n, name)
	return v
}

// Has reports whether an attribute without a namespace exists.
func Has(n *html.Node, name string) bool {
	_, ok := Find(n, name)
	return ok
}

// Is reports whether a node is the HTML element a.
func Is(n *html.Node, a atom.Atom) bool {
	return n.Type == html.ElementNode && n.DataAtom == a && n.Namespace == ""
}

// IsTemplate reports whether a node is an HTML template element. Its content is not part of the
// page (HTML standard section 4.12.3), although it is below it in the tree.
func IsTemplate(n *html.Node) bool { return Is(n, atom.Template) }

// Fold trims a text and replaces each run of white space by one space.
func Fold(s string) string { return strings.Join(strings.Fields(s), " ") }
