package structured

import (
	"iter"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// walk visits the tree below and including root in tree order, without
// recursion. It does not descend where enter returns false, and calls leave, if
// there is one, for each node that was entered. What a template holds is not
// part of the document and is never visited.
func walk(root *html.Node, enter func(*html.Node) bool, leave func(*html.Node)) {
	for n := root; ; {
		if enter(n) && n.FirstChild != nil && n.DataAtom != atom.Template {
			n = n.FirstChild
			continue
		}
		for ; ; n = n.Parent {
			if leave != nil {
				leave(n)
			}
			if n == root {
				return
			}
			if n.NextSibling != nil {
				n = n.NextSibling
				break
			}
		}
	}
}

// elements yields the elements below and including root, in tree order.
func elements(root *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		more := true
		walk(root, func(n *html.Node) bool {
			if more && n.Type == html.ElementNode {
				more = yield(n)
			}
			return more
		}, nil)
	}
}

// attribute returns an attribute without a namespace, and whether it is there.
func attribute(n *html.Node, name string) (string, bool) {
	for i := range n.Attr {
		if n.Attr[i].Key == name && n.Attr[i].Namespace == "" {
			return n.Attr[i].Val, true
		}
	}
	return "", false
}

func has(n *html.Node, name string) bool {
	_, ok := attribute(n, name)
	return ok
}

// isHTML reports whether n is the HTML element a.
func isHTML(n *html.Node, a atom.Atom) bool {
	return n.Type == html.ElementNode && n.DataAtom == a && n.Namespace == ""
}

// whitespace is ASCII whitespace (Infra standard, section 4.6).
const whitespace = " \t\n\f\r"

func isWhitespace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'
}

// tokens yields the parts of a space-separated attribute without repetitions, in
// order (HTML standard, section 2.3.7).
func tokens(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var seen map[string]bool
		for t := range strings.FieldsFuncSeq(s, isSpace) {
			if seen[t] {
				continue
			}
			if !yield(t) {
				return
			}
			if seen == nil {
				seen = map[string]bool{}
			}
			seen[t] = true
		}
	}
}

func isSpace(r rune) bool { return r < 0x80 && isWhitespace(byte(r)) }

// hasToken reports whether a space-separated attribute contains a token, without
// regard to ASCII case.
func hasToken(s, token string) bool {
	for t := range strings.FieldsFuncSeq(s, isSpace) {
		if strings.EqualFold(t, token) {
			return true
		}
	}
	return false
}

// fold trims s and makes one space of each run of white space.
func fold(s string) string {
	return strings.Join(strings.Fields(s), " ")
}

// bytesPerStep is how much text costs as much time as a node, about.
const bytesPerStep = 16

// text returns what is written below n, folded: its textContent without that of
// scripts and styles, which no reader sees, and with a space for a br. It is paid
// for, as elements in each other repeat their text; where the budget ends, the
// text does.
func text(n *html.Node, left *budget) string {
	var b strings.Builder
	walk(n, func(c *html.Node) bool {
		if !left.step(1) {
			return false
		}
		switch {
		case c.Type == html.TextNode:
			if left.step(len(c.Data) / bytesPerStep) {
				b.WriteString(c.Data)
			}
		case isHTML(c, atom.Br):
			b.WriteByte(' ')
		}
		return !isHTML(c, atom.Script) && !isHTML(c, atom.Style)
	}, nil)
	return fold(b.String())
}
