package css

import (
	"strings"

	"golang.org/x/net/html"

	"seine/internal/page/dom"
)

// Nodes numbers the visited nodes of a page, and caches results that all selectors on the page
// share. It is not safe for concurrent use, and valid while the page does not change. It takes
// about NodeSize bytes for each node.
type Nodes struct {
	ids       map[*html.Node]int32
	positions [4][]int32 // by id: from the start and from the end, among all siblings and among those of one type
	texts     [2]*texts
}

// NodeSize is approximately the memory, in bytes, that Nodes takes for each node.
const NodeSize = 64

// NewNodes returns an empty Nodes.
func NewNodes() *Nodes { return &Nodes{ids: make(map[*html.Node]int32)} }

func (x *Nodes) id(n *html.Node) int32 {
	id, ok := x.ids[n]
	if !ok {
		id = int32(len(x.ids))
		x.ids[n] = id
	}
	return id
}

// table has the known answers for nodes, by id.
type table []known

type known uint8

// Answers in a table.
const (
	unknown known = iota
	no
	yes
)

// position returns the position of an element among the child elements of its parent, or among
// those of its name, from 1. The positions of all siblings are counted on the first call for one of
// them.
func (m *Matcher) position(n *html.Node, ofType, last bool) int {
	kind := 0
	if ofType {
		kind |= 1
	}
	if last {
		kind |= 2
	}
	id := m.nodes.id(n)
	if known := at(m.nodes.positions[kind], id); known > 0 {
		return int(known)
	}
	first, next := n.Parent.FirstChild, func(c *html.Node) *html.Node { return c.NextSibling }
	if last {
		first, next = n.Parent.LastChild, func(c *html.Node) *html.Node { return c.PrevSibling }
	}
	counts := make(map[string]int32, 1)
	all := &m.nodes.positions[kind]
	for c := first; c != nil && m.spend(1); c = next(c) {
		if c.Type != html.ElementNode {
			continue
		}
		name := ""
		if ofType {
			name = c.Data
		}
		counts[name]++
		put(all, m.nodes.id(c), counts[name])
	}
	return int(at(*all, id))
}

func at[T any](list []T, i int32) (v T) {
	if int(i) < len(list) {
		v = list[i]
	}
	return v
}

func put[S ~[]T, T any](list *S, i int32, value T) {
	if missing := int(i) + 1 - len(*list); missing > 0 {
		*list = append(*list, make(S, missing)...)
	}
	(*list)[i] = value
}

// texts is the text of a whole page, with the range of each node.
type texts struct {
	all        string
	start, end []int32 // by id
}

// textOf returns the text of the page that contains a node, in lower case or unchanged.
func (m *Matcher) textOf(n *html.Node, small bool) *texts {
	kind := 0
	if small {
		kind = 1
	}
	if t := m.nodes.texts[kind]; t != nil {
		return t
	}
	for n.Parent != nil {
		n = n.Parent
	}
	g := gatherer{m: m, small: small, texts: new(texts), apart: []*html.Node{n}}
	for len(g.apart) > 0 {
		first := g.apart[0]
		g.apart = g.apart[1:]
		g.children(first)
	}
	g.texts.all = g.b.String()
	if m.err == nil {
		m.nodes.texts[kind] = g.texts
	}
	return g.texts
}

// gatherer collects the text of a page.
type gatherer struct {
	m     *Matcher
	small bool
	b     strings.Builder
	texts *texts
	// apart are nodes whose content is not part of their surroundings: the document and templates.
	// It is appended at the end.
	apart []*html.Node
}

// node collects the text of a node. The text of a document or a comment is empty.
func (g *gatherer) node(n *html.Node) {
	from := g.b.Len()
	switch {
	case !g.m.spend(1):
		return
	case n.Type == html.TextNode && g.small:
		g.m.lower(&g.b, n.Data)
	case !g.m.spend(len(n.Data) / Unit):
		return
	case n.Type == html.TextNode:
		g.b.WriteString(n.Data)
	case dom.IsTemplate(n):
		g.apart = append(g.apart, n)
	default:
		g.children(n)
	}
	id := g.m.nodes.id(n)
	put(&g.texts.start, id, int32(from))
	put(&g.texts.end, id, int32(g.b.Len()))
}

func (g *gatherer) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		g.node(c)
	}
}

// span returns the range of a node's text.
func (m *Matcher) span(t *texts, n *html.Node) (start, end int) {
	id := m.nodes.id(n)
	return int(at(t.start, id)), int(at(t.end, id))
}
