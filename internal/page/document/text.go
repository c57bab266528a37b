package document

import (
	"golang.org/x/net/html"

	"seine/internal/page/article"
	"seine/internal/page/dom"
	"seine/internal/page/htmlpage"
)

// Text returns the text of the document: for a page the visible text as in its record, for other
// documents the body.
func (d *Document) Text() (string, error) {
	return d.text.get(func() (string, error) {
		if !d.IsHTML() {
			return string(d.Body()), nil
		}
		page, err := htmlpage.Scan(d.Body(), d.URL, "text/html; charset=utf-8", htmlpage.Options{XML: d.IsXHTML()})
		return page.Text, err
	})
}

// TextOf returns the text of a node, with white space folded to single spaces. Spaces separate
// blocks, cells and line breaks. The text of script, style, template and noscript elements is
// omitted, unless n is one itself.
func TextOf(n *html.Node) string { return dom.Fold(article.TextOf(n, "")) }

// Raised separates digits from raised or small digits after them in the result of NumberText.
const Raised = "¤"

// NumberText is TextOf for a number, in which the cents of a price may be raised:
// 12<sup>99</sup>.
func NumberText(n *html.Node) string { return dom.Fold(article.TextOf(n, Raised)) }
