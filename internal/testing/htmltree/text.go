package htmltree

import (
	"strings"

	"golang.org/x/net/html"
)

// hidden are elements whose text is not part of the page's text (package htmlpage). The content of
// a raw text element has none of the other elements in it.
const hidden = " script style template noscript noframes svg iframe noembed textarea title "

// apart are the elements that separate words: blocks, cells and line breaks.
const apart = " p div br li tr h1 h2 h3 h4 h5 h6 ul ol dl dt dd table thead tbody tfoot caption pre hr " +
	"section article header footer nav main aside address blockquote center details dialog dir fieldset " +
	"figcaption figure form hgroup legend listing menu search summary optgroup option body head " +
	"td th button select input xmp plaintext "

// Text returns the visible text below a node, with single spaces between words. It does not
// recurse, because pages may be nested deeply.
func Text(root *html.Node) string {
	var b strings.Builder
	for n := root; n != nil; {
		if n.Type == html.TextNode {
			b.WriteString(strings.ReplaceAll(n.Data, "\x00", ""))
		}
		space(&b, n)
		if isReading(n) {
			b.WriteByte('(')
		}
		if n.FirstChild != nil && !is(n, hidden) {
			n = n.FirstChild
			continue
		}
		for n != root && n.NextSibling == nil {
			n = n.Parent
			space(&b, n)
			if isReading(n) {
				b.WriteByte(')')
			}
		}
		if n == root {
			break
		}
		n = n.NextSibling
	}
	return strings.Join(strings.FieldsFunc(b.String(), isSpace), " ")
}

// isReading reports whether a node is a non-empty ruby reading (rt) without parentheses (rp) of its
// own.
func isReading(n *html.Node) bool {
	if !is(n, " rt ") {
		return false
	}
	for before := n.PrevSibling; before != nil; before = before.PrevSibling {
		if is(before, " rp ") {
			return false
		}
	}
	for c := range n.Descendants() {
		if c.Type == html.TextNode && strings.TrimFunc(c.Data, isSpace) != "" {
			return true
		}
	}
	return false
}

func space(b *strings.Builder, n *html.Node) {
	if is(n, apart) {
		b.WriteByte(' ')
	}
}

func is(n *html.Node, names string) bool {
	return n.Type == html.ElementNode && strings.Contains(names, " "+n.Data+" ")
}

func isSpace(r rune) bool { return strings.ContainsRune("\t\n\f\r \u00a0", r) }
