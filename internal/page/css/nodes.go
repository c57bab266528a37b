package css

import (
	"strings"

	"golang.org/x/net/html"

	"seine/internal/page/dom"
)

// Nodes numbers the nodes of a page as they are come to, and keeps what all
// selectors on the page ask of them. It is for one goroutine, and for as long as
// the page does not change. It takes about NodeSize bytes for each node.
type Nodes struct {
	ids       map[*html.Node]int32
	positions [4][]int32 // by id: from the front and the back, among all and of a type
	texts     [2]*texts
}

// NodeSize is about how many bytes of memory Nodes takes for each node.
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

// table is what is known of nodes, by id.
type table []known

type known uint8

// What a table knows of a node.
const (
	unknown known = iota
	no
	yes
)

// position returns the place of an element among the elements of its parent, or
// those of its name, from 1 on. Those of all are counted when the first is asked
// for.
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

// texts is the text of a whole page, and which part of it is of which node.
type texts struct {
	all        string
	start, end []int32 // by id
}

// textOf returns the text of the page that a node is in, in small letters or as it
// is.
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
	// apart are nodes whose content is no part of what is around them: the document,
	// and templates. It comes behind all else.
	apart []*html.Node
}

// node collects the text in a node. That of a document and of a comment is none.
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

// span returns which part of the text is of a node.
func (m *Matcher) span(t *texts, n *html.Node) (start, end int) {
	id := m.nodes.id(n)
	return int(at(t.start, id)), int(at(t.end, id))
}
