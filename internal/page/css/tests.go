package css

import (
	"strings"

	"golang.org/x/net/html"

	"seine/internal/base/regexbound"
	"seine/internal/page/dom"
)

// test is a part of a compound selector that may check other nodes, or much text.
type test func(m *Matcher, n *html.Node) bool

// attributeMatches implements [name#=regex].
func attributeMatches(name string, regex *regexbound.Regexp) test {
	return func(m *Matcher, n *html.Node) bool {
		for i := range n.Attr {
			if n.Type == html.ElementNode && n.Attr[i].Key == name && m.regex(regex, n.Attr[i].Val) {
				return true
			}
		}
		return false
	}
}

// not implements :not().
func not(g group) test {
	return func(m *Matcher, n *html.Node) bool { return n.Type == html.ElementNode && !m.any(g, n) }
}

// hasChild implements :haschild().
func hasChild(g group) test {
	return func(m *Matcher, n *html.Node) bool {
		for c := n.FirstChild; c != nil && m.err == nil && isOpen(n); c = c.NextSibling {
			if m.any(g, c) {
				return true
			}
		}
		return false
	}
}

// isOpen reports whether a node is an element whose content is part of the page.
func isOpen(n *html.Node) bool { return n.Type == html.ElementNode && !dom.IsTemplate(n) }

// has implements :has(). It visits the descendants of a node once.
func has(g group, table int) test {
	var below test
	below = func(m *Matcher, n *html.Node) bool {
		return m.walk(table, n, nothing, func(n *html.Node) bool {
			for c := n.FirstChild; c != nil && m.err == nil && isOpen(n); c = c.NextSibling {
				if m.any(g, c) || c.FirstChild != nil && below(m, c) {
					return true
				}
			}
			return false
		})
	}
	return below
}

// nth implements :nth-child() and the like.
func nth(a, b int, last, ofType bool) test {
	return func(m *Matcher, n *html.Node) bool {
		if n.Type != html.ElementNode || n.Parent == nil {
			return false
		}
		i := m.position(n, ofType, last) - b
		if a == 0 {
			return i == 0
		}
		return i%a == 0 && i/a >= 0
	}
}

// lang implements :lang().
func lang(language string, table int) test {
	return func(m *Matcher, n *html.Node) bool {
		return m.walk(table, n, parent, func(n *html.Node) bool {
			if n.Type != html.ElementNode || !m.spend(cost(n)) {
				return false
			}
			for i := range n.Attr {
				a := &n.Attr[i]
				if a.Key == "lang" && (a.Val == language || strings.HasPrefix(a.Val, language+"-")) {
					return true
				}
			}
			return false
		})
	}
}
