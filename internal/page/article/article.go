package article

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Content is the main content of a page.
type Content struct {
	// Node is a copy of the element that holds it, without what is no content.
	// It is in a document of its own.
	Node *html.Node

	// Text is the text of Node, as [Text] gives it.
	Text string
}

// Main returns the main content of a page. It is false for a page that has
// none, such as a form, an empty shell or a page of links without a word about
// them, and for one beyond the bounds of the package.
func Main(root *html.Node) (Content, bool) {
	if root == nil {
		return Content{}, false
	}
	bs := measure(root)
	if bs == nil {
		return Content{}, false
	}
	main, ok := bs.find()
	if !ok {
		return Content{}, false
	}
	node := bs.copyMain(main, mathScript(root))
	return Content{Node: node, Text: Text(node)}, true
}

// find drops what is no content and returns the block that has the content. It
// trusts less of what a page says about itself from one attempt to the next.
func (bs blocks) find() (main int32, ok bool) {
	for _, trust := range []bool{true, false} {
		bs.dropBoilerplate(trust)
		main = bs.choose()
		if words(&bs[main]) >= leastMain {
			whole := bs[main].text
			bs.dropLinkLists(main)
			if bs[main].text*4 < whole {
				bs.restore()
				bs.dropBoilerplate(trust)
			}
			return main, true
		}
		bs.restore()
	}
	return 0, false
}

// headOf returns the head of the document that a node is in, nil if it has none.
func headOf(n *html.Node) *html.Node {
	for n.Parent != nil {
		n = n.Parent
	}
	if n.Type == html.DocumentNode {
		n = child(n, atom.Html)
	}
	return child(n, atom.Head)
}

// child returns the first child that is a certain element.
func child(n *html.Node, a atom.Atom) *html.Node {
	if n == nil {
		return nil
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == a {
			return c
		}
	}
	return nil
}
