package document

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"seine/internal/page/dom"
	"seine/internal/page/htmlpage"
)

// MaxHTML is the maximum length, in bytes, of a page for a DOM. The longest documentation pages
// have 10 MB. x/net/html itself rejects elements that are more than 512 deep.
const MaxHTML = 16 << 20

// DOM returns the tree of a page. See [Document.Root] for its root node without goquery.
func (d *Document) DOM() (*goquery.Document, error) {
	return d.dom.get(func() (*goquery.Document, error) {
		if !d.IsHTML() {
			return nil, fmt.Errorf("%w: %s is not HTML", ErrForm, d.Type.Class)
		}
		body := d.Body()
		if len(body) > MaxHTML {
			return nil, fmt.Errorf("%w: it has %d bytes, a DOM is built from at most %d", ErrTooBig, len(body), MaxHTML)
		}
		if d.IsXHTML() {
			body = htmlpage.FromXML(body)
		}
		root, err := buildHTML(body)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(body, []byte("hadow")) || bytes.Contains(body, []byte("HADOW")) {
			showShadowRoots(root)
		}
		return goquery.NewDocumentFromNode(root), nil
	})
}

// Root returns the root node of the DOM.
func (d *Document) Root() (*html.Node, error) {
	page, err := d.DOM()
	if err != nil {
		return nil, err
	}
	return page.Nodes[0], nil
}

// showShadowRoots converts templates that are shadow roots to plain elements (HTML standard section
// 4.12.3), since browsers show their content.
func showShadowRoots(root *html.Node) {
	for n := range dom.Descendants(root) {
		if mode := dom.Attribute(n, "shadowrootmode"); dom.IsTemplate(n) && (strings.EqualFold(mode, "open") || strings.EqualFold(mode, "closed")) {
			n.DataAtom, n.Data = 0, "shadow-root"
		}
	}
}

// Attribute returns the value of an attribute of any namespace, or "".
func Attribute(n *html.Node, name string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == name {
			return n.Attr[i].Val
		}
	}
	return ""
}
