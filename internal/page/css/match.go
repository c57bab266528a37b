package css

import (
	"iter"
	"slices"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"seine/internal/base/regexbound"
	"seine/internal/page/dom"
)

// Unit is the number of bytes of text that cost as much as one node.
const Unit = 16

// Spender counts work: visited nodes, and Unit bytes of text. An error stops the work.
type Spender func(n int) error

// Matcher matches a selector against the nodes of one page. It is a goquery.Matcher and not safe
// for concurrent use. Once its Spender has failed, nothing matches: see [Matcher.Err].
type Matcher struct {
	selector *Selector
	nodes    *Nodes
	spender  Spender
	tables   []table
	err      error
}

var _ goquery.Matcher = (*Matcher)(nil)

// Matcher returns a matcher for the page with these nodes.
func (s *Selector) Matcher(nodes *Nodes, spender Spender) *Matcher {
	return &Matcher{selector: s, nodes: nodes, spender: spender, tables: make([]table, s.tables)}
}

// Err returns the error of the Spender, or nil.
func (m *Matcher) Err() error { return m.err }

// Match reports whether a node matches.
func (m *Matcher) Match(n *html.Node) bool { return m.any(m.selector.group, n) && m.err == nil }

// MatchFirst returns the first result of MatchAll, or nil.
func (m *Matcher) MatchFirst(n *html.Node) *html.Node {
	for n := range m.matches(n) {
		return n
	}
	return nil
}

// MatchAll returns the matching elements among n and its descendants, in document order. The
// contents of template elements are not part of the page.
func (m *Matcher) MatchAll(n *html.Node) []*html.Node { return slices.Collect(m.matches(n)) }

func (m *Matcher) matches(root *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		for n := range dom.Nodes(root) {
			if m.err != nil {
				return
			}
			if n.Type != html.ElementNode {
				m.spend(1)
			} else if m.Match(n) && !yield(n) {
				return
			}
		}
	}
}

// Filter returns the matching nodes.
func (m *Matcher) Filter(nodes []*html.Node) []*html.Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n *html.Node) bool { return !m.Match(n) })
}

// spend counts work, and reports whether more is allowed.
func (m *Matcher) spend(n int) bool {
	if m.err == nil {
		m.err = m.spender(n)
	}
	return m.err == nil
}

func (m *Matcher) any(g group, n *html.Node) bool {
	for _, s := range g {
		if m.step(s, n) {
			return true
		}
	}
	return false
}

// step reports whether a node matches a selector.
func (m *Matcher) step(s *step, n *html.Node) bool {
	if !m.spend(cost(n)) {
		return false
	}
	if s.alone != nil && !s.alone.Match(n) {
		return false
	}
	for _, is := range s.tests {
		if !is(m, n) {
			return false
		}
	}
	left := func(n *html.Node) bool { return m.step(s.left, n) }
	switch s.by {
	case ' ':
		return m.walk(s.table, n.Parent, parent, left)
	case '>':
		return m.walk(s.table, n.Parent, nothing, left)
	case '~':
		return m.walk(s.table, n.PrevSibling, before, left)
	case '+':
		return m.walk(s.table, n.PrevSibling, beforeText, func(n *html.Node) bool { return !isText(n) && left(n) })
	}
	return true
}

// cost is the cost of checking a node, whose attributes may be many or long.
func cost(n *html.Node) int {
	c := 1 + len(n.Attr)
	for i := range n.Attr {
		c += len(n.Attr[i].Val) / Unit
	}
	return c
}

// Functions that return the next node to visit.
func parent(n *html.Node) *html.Node  { return n.Parent }
func before(n *html.Node) *html.Node  { return n.PrevSibling }
func nothing(_ *html.Node) *html.Node { return nil }

// beforeText skips text and comments, which "+" ignores.
func beforeText(n *html.Node) *html.Node {
	if isText(n) {
		return n.PrevSibling
	}
	return nil
}

func isText(n *html.Node) bool { return n.Type == html.TextNode || n.Type == html.CommentNode }

// walk reports whether ask is true for a node or for any node that next leads to. A table remembers
// the answers, so that each node is asked once.
func (m *Matcher) walk(table int, from *html.Node, next func(*html.Node) *html.Node, ask func(*html.Node) bool) bool {
	is, end := no, from
	for ; end != nil && m.spend(1); end = next(end) {
		if known := at(m.tables[table], m.nodes.id(end)); known != unknown {
			is = known
			break
		}
		if ask(end) {
			is = yes
			put(&m.tables[table], m.nodes.id(end), yes)
			break
		}
	}
	for n := from; n != end; n = next(n) {
		put(&m.tables[table], m.nodes.id(n), is)
	}
	return is == yes
}

// regex reports whether a text matches. It stops when the work is exhausted.
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
