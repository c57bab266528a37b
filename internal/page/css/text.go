package css

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"seine/internal/base/regexbound"
)

// contains implements :contains() and :containsOwn(); text is in lower case.
func contains(text string, own bool) test {
	return func(m *Matcher, n *html.Node) bool {
		if own {
			var b strings.Builder
			m.lower(&b, m.ownText(n))
			return strings.Contains(b.String(), text)
		}
		t := m.textOf(n, true)
		if m.err != nil {
			return false
		}
		start, end := m.span(t, n)
		return m.spend((end-start)/Unit) && strings.Contains(t.all[start:end], text)
	}
}

// matches implements :matches() and :matchesOwn().
func matches(re *regexbound.Regexp, own bool) test {
	return func(m *Matcher, n *html.Node) bool {
		if own {
			return m.regex(re, m.ownText(n))
		}
		t := m.textOf(n, false)
		if m.err != nil {
			return false
		}
		start, end := m.span(t, n)
		return m.regex(re, t.all[start:end])
	}
}

// lower appends a text in lower case, piece by piece, until the work is exhausted.
func (m *Matcher) lower(to *strings.Builder, text string) {
	const most = 64 << 10
	for len(text) > 0 {
		n := min(most, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		if !m.spend(n / Unit) {
			return
		}
		to.WriteString(strings.ToLower(text[:n]))
		text = text[n:]
	}
}

// ownText returns the text of a node's text children.
func (m *Matcher) ownText(n *html.Node) string {
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if !m.spend(1 + len(c.Data)/Unit) {
			break
		}
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}
