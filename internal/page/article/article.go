package article

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Content is the main content of a page.
type Content struct {
	// Node is a copy of the element that holds it, without what is no content.
	// It is in a document of its own, whose base element says what its links are
	// relative to.
	Node *html.Node

	// Text is the text of Node, as [Text] gives it.
	Text string
}

// Main returns the main content of a page. It is false for a page that has
// none, such as a form, an empty shell or a page of links without a word about
// them, and for one beyond the bounds of the package. The URL is that of the
// page, before any base element of it.
func Main(root *html.Node, pageURL string) (Content, bool) {
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
	node := bs.copyMain(main, baseOf(root, pageURL), mathScript(root))
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

// baseOf returns the URL that links of a document are relative to.
func baseOf(n *html.Node, pageURL string) string {
	if href, ok := baseElement(n); ok {
		return newLinks(pageURL).absolute(href)
	}
	return pageURL
}

// baseElement returns what the base element of a document says.
func baseElement(n *html.Node) (href string, ok bool) {
	for b := child(headOf(n), atom.Base); b != nil; b = b.NextSibling {
		if b.DataAtom == atom.Base && hasAttr(b, "href") {
			return attr(b, "href"), true
		}
	}
	return "", false
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
