package structured

import (
	"iter"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// walk visits the tree of root in tree order. It does not descend where enter returns false, nor
// into templates, and calls leave, if not nil, for each node.
func walk(root *html.Node, enter func(*html.Node) bool, leave func(*html.Node)) {
	for w := dom.Walk(root); w.Next(); {
		switch {
		case !w.Leaving:
			if !enter(w.Node) || dom.IsTemplate(w.Node) {
				w.Skip()
			}
		case leave != nil:
			leave(w.Node)
		}
	}
}

// whitespace is ASCII whitespace (Infra standard, section 4.6).
const whitespace = " \t\n\f\r"

func isWhitespace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'
}

// tokens yields the parts of a space-separated attribute without repetitions, in order (HTML
// standard, section 2.3.7).
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

// hasToken reports whether a space-separated attribute contains a token, ignoring ASCII case.
func hasToken(s, token string) bool {
	for t := range strings.FieldsFuncSeq(s, isSpace) {
		if strings.EqualFold(t, token) {
			return true
		}
	}
	return false
}

// bytesPerStep is approximately the number of bytes of text that cost as much time as a node.
const bytesPerStep = 16

// text returns the folded text below n: its textContent without that of scripts and styles, which
// are not visible, and with a space for a br. It spends budget, as nested elements repeat their
// text; if the budget ends, the text is truncated.
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
		case dom.Is(c, atom.Br):
			b.WriteByte(' ')
		}
		return !dom.Is(c, atom.Script) && !dom.Is(c, atom.Style)
	}, nil)
	return dom.Fold(b.String())
}
