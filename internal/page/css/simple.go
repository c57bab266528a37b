package css

import (
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/base/regexbound"
)

// anyElement is "*".
type anyElement struct{}

func (anyElement) matches(_ *Matcher, n *html.Node) bool { return n.Type == html.ElementNode }

// alone is what concerns one element alone: names, classes, attributes.
type alone struct{ selector cascadia.Sel }

func (s alone) matches(_ *Matcher, n *html.Node) bool { return s.selector.Match(n) }

// attributeMatches is [name#=regex].
type attributeMatches struct {
	name  string
	regex *regexbound.Regexp
}

func (s attributeMatches) matches(m *Matcher, n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	for i := range n.Attr {
		if n.Attr[i].Key == s.name && m.regex(s.regex, n.Attr[i].Val) {
			return true
		}
	}
	return false
}

// regex reports whether a text matches, and ends where the work does.
func (m *Matcher) regex(re *regexbound.Regexp, text string) bool {
	if m.err != nil {
		return false
	}
	is, err := re.Match(text, m.spender)
	if err != nil {
		m.err = err
	}
	return is
}

// not is :not().
type not struct{ group group }

func (s not) matches(m *Matcher, n *html.Node) bool {
	return n.Type == html.ElementNode && !m.any(s.group, n)
}

// has is :has(): an element in it matches.
type has struct {
	group group
	table int
}

func (s has) matches(m *Matcher, n *html.Node) bool {
	return n.Type == html.ElementNode && !IsTemplate(n) && s.in(m, n)
}

// in asks what is below a node, once.
func (s has) in(m *Matcher, n *html.Node) bool {
	return m.walk(s.table, n, nothing, func(n *html.Node) bool {
		for c := n.FirstChild; c != nil && m.err == nil; c = c.NextSibling {
			if m.any(s.group, c) || s.matches(m, c) {
				return true
			}
		}
		return false
	})
}

// hasChild is :haschild(): a child of it matches.
type hasChild struct{ group group }

func (s hasChild) matches(m *Matcher, n *html.Node) bool {
	if n.Type != html.ElementNode || IsTemplate(n) {
		return false
	}
	for c := n.FirstChild; c != nil && m.err == nil; c = c.NextSibling {
		if m.any(s.group, c) {
			return true
		}
	}
	return false
}

// nth is :nth-child() and its like.
type nth struct {
	a, b         int
	last, ofType bool
}

func (s nth) matches(m *Matcher, n *html.Node) bool {
	if n.Type != html.ElementNode || n.Parent == nil {
		return false
	}
	i := m.position(n, s.ofType, s.last) - s.b
	if s.a == 0 {
		return i == 0
	}
	return i%s.a == 0 && i/s.a >= 0
}

// only is :only-child and :only-of-type.
type only struct{ ofType bool }

func (s only) matches(m *Matcher, n *html.Node) bool {
	return nth{b: 1, ofType: s.ofType}.matches(m, n) && nth{b: 1, ofType: s.ofType, last: true}.matches(m, n)
}

// lang is :lang().
type lang struct {
	language string
	table    int
}

func (s lang) matches(m *Matcher, n *html.Node) bool {
	return m.walk(s.table, n, parent, func(n *html.Node) bool {
		if n.Type != html.ElementNode || !m.spend(cost(n)) {
			return false
		}
		for i := range n.Attr {
			a := &n.Attr[i]
			if a.Key == "lang" && (a.Val == s.language || strings.HasPrefix(a.Val, s.language+"-")) {
				return true
			}
		}
		return false
	})
}

func hasAttribute(n *html.Node, name string) bool {
	for i := range n.Attr {
		if n.Attr[i].Key == name {
			return true
		}
	}
	return false
}

// inDisabledFieldset is true of what a fieldset disables (HTML standard section
// 4.10.19.5).
type inDisabledFieldset struct{ table int }

func (s inDisabledFieldset) matches(m *Matcher, n *html.Node) bool {
	return m.walk(s.table, n, parent, func(n *html.Node) bool {
		if !m.spend(1) || n.Parent == nil || n.Parent.DataAtom != atom.Fieldset || !hasAttribute(n.Parent, "disabled") {
			return false
		}
		return n.DataAtom != atom.Legend || m.afterLegend(n)
	})
}

// afterLegend reports whether a legend is before a node.
func (m *Matcher) afterLegend(n *html.Node) bool {
	for n = n.PrevSibling; n != nil && m.spend(1); n = n.PrevSibling {
		if n.DataAtom == atom.Legend {
			return true
		}
	}
	return false
}

// enabled is :enabled.
type enabled struct{ fieldset inDisabledFieldset }

func (s enabled) matches(m *Matcher, n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	switch n.DataAtom {
	case atom.A, atom.Area, atom.Link:
		return hasAttribute(n, "href")
	}
	is, can := s.fieldset.disables(m, n)
	return can && !is
}

// disabled is :disabled.
type disabled struct{ fieldset inDisabledFieldset }

func (s disabled) matches(m *Matcher, n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	is, can := s.fieldset.disables(m, n)
	return can && is
}

// disables reports whether an element is disabled, and whether it is one that can be.
func (s inDisabledFieldset) disables(m *Matcher, n *html.Node) (is, can bool) {
	switch n.DataAtom {
	case atom.Optgroup, atom.Menuitem, atom.Fieldset:
		return hasAttribute(n, "disabled"), true
	case atom.Button, atom.Input, atom.Select, atom.Textarea, atom.Option:
		return hasAttribute(n, "disabled") || s.matches(m, n), true
	}
	return false, false
}
