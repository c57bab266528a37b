package structured

import (
	"cmp"
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// Microdata returns the page's top-level items, in tree order (HTML standard, section 5; the JSON
// form is that of section 5.5). It differs from the standard in these points, as pages do:
//
//   - A content attribute is the value of any element, as on meta: shops write <span
//     itemprop="price" content="9.90">, and search engines read it this way.
//   - Text is folded: trimmed, with one space for each run of white space and for a br, and
//     without that of script and style elements.
//   - A global identifier that is not a URL is kept as written.
//   - Items that contain each other by itemref give the string "ERROR" where the cycle closes,
//     as in the standard; those beyond the maximum depth are omitted.
func Microdata(root *html.Node, base string) ([]*Item, []Problem) {
	m := microdata{root: root, urls: newResolver(base), left: newBudget()}
	var items []*Item
	for n := range dom.Elements(root) {
		if m.left.spent {
			break
		}
		if dom.Has(n, "itemscope") && !dom.Has(n, "itemprop") {
			items = append(items, m.item(n, nil))
		}
	}
	return items, m.left.problems(partMicrodata)
}

type microdata struct {
	root *html.Node
	urls *resolver
	left budget

	// Built at the first itemref: the first element with each id, and the position of each element
	// in the tree.
	ids   map[string]*html.Node
	order map[*html.Node]int
}

// item returns the item of an element; path has the elements of the items that contain it.
func (m *microdata) item(n *html.Node, path []*html.Node) *Item {
	b := builder{item: &Item{}}
	if types, ok := dom.Find(n, "itemtype"); ok {
		b.item.Types = m.types(types)
	}
	if id, ok := dom.Find(n, "itemid"); ok && m.left.spend(0, len(id)) {
		b.item.ID = m.identifier(id)
	}
	path = append(path, n)
	for _, p := range m.properties(n) {
		m.property(&b, p, path)
	}
	return b.item
}

func (m *microdata) types(s string) []string {
	var types []string
	for t := range tokens(s) {
		if len(types) >= maxTypes || !m.left.spend(1, len(t)) {
			break
		}
		types = append(types, t)
	}
	return types
}

func (m *microdata) identifier(id string) string {
	if u, ok := m.urls.resolve(id); ok {
		return u
	}
	return id
}

// property adds the value of an element under each of its names. The first name costs the value
// itself, since its contents were counted already. Each further name costs all of it again, as it
// will be written again.
func (m *microdata) property(b *builder, n *html.Node, path []*html.Node) {
	if m.left.spent {
		return
	}
	before := m.left
	v, ok := m.value(n, path)
	if !ok {
		return
	}
	inside, insideBytes := before.values-m.left.values, before.bytes-m.left.bytes
	values, bytes := 1, len(v.Text)
	names, _ := dom.Find(n, "itemprop")
	for name := range tokens(names) {
		if !m.left.spend(values, bytes+len(name)) {
			return
		}
		b.add(name, v)
		values, bytes = 1+inside, len(v.Text)+insideBytes
	}
}

// value returns the standard's property value (section 5.2.4).
func (m *microdata) value(n *html.Node, path []*html.Node) (Value, bool) {
	if dom.Has(n, "itemscope") {
		return m.nested(n, path)
	}
	if content, ok := dom.Find(n, "content"); ok {
		return Value{Text: content}, true
	}
	if n.Namespace != "" {
		return Value{Text: text(n, &m.left)}, true
	}
	switch n.DataAtom {
	case atom.Meta:
		return Value{}, true
	case atom.Audio, atom.Embed, atom.Iframe, atom.Img, atom.Source, atom.Track, atom.Video:
		return m.url(n, "src"), true
	case atom.A, atom.Area, atom.Link:
		return m.url(n, "href"), true
	case atom.Object:
		return m.url(n, "data"), true
	case atom.Data, atom.Meter:
		v, _ := dom.Find(n, "value")
		return Value{Text: v}, true
	case atom.Time:
		if v, ok := dom.Find(n, "datetime"); ok {
			return Value{Text: v}, true
		}
	default:
	}
	return Value{Text: text(n, &m.left)}, true
}

func (m *microdata) nested(n *html.Node, path []*html.Node) (Value, bool) {
	if slices.Contains(path, n) {
		return Value{Text: "ERROR"}, true
	}
	if len(path) >= maxItemDepth {
		m.left.deep = true
		return Value{}, false
	}
	return Value{Item: m.item(n, path)}, true
}

// urlBytesPerStep is approximately the number of bytes of a URL that take as much time to resolve
// as visiting a node.
const urlBytesPerStep = 4

// url returns the value of an attribute that holds a URL, or the empty string if there is none.
func (m *microdata) url(n *html.Node, name string) Value {
	v, ok := dom.Find(n, name)
	if !ok || !m.left.step(len(v)/urlBytesPerStep) {
		return Value{}
	}
	u, _ := m.urls.resolve(v)
	return Value{Text: u}
}

// refSteps is the cost of a node if there are references, since visited nodes must be remembered.
const refSteps = 4

// properties returns the elements that are properties of the item, in tree order (section 5.2.5).
func (m *microdata) properties(item *html.Node) []*html.Node {
	refs, ok := dom.Find(item, "itemref")
	if !ok {
		return m.collect(nil, item, func(*html.Node) bool { return m.left.step(1) })
	}
	m.index()
	seen := map[*html.Node]bool{item: true}
	unseen := func(n *html.Node) bool {
		again := seen[n]
		seen[n] = true
		return m.left.step(refSteps) && !again
	}
	found := m.collect(nil, item, unseen)
	for id := range tokens(refs) {
		if n := m.ids[id]; m.left.step(1) && n != nil && unseen(n) {
			found = m.collectFrom(found, n, unseen)
		}
	}
	slices.SortFunc(found, func(a, b *html.Node) int { return cmp.Compare(m.order[a], m.order[b]) })
	return found
}

// collectFrom appends n, if it is a property, and those below it.
func (m *microdata) collectFrom(found []*html.Node, n *html.Node, visit func(*html.Node) bool) []*html.Node {
	if dom.Has(n, "itemprop") {
		found = append(found, n)
	}
	if dom.Has(n, "itemscope") {
		return found
	}
	return m.collect(found, n, visit)
}

// collect appends the properties below n that belong to the item of n. It does not descend where
// visit returns false.
func (m *microdata) collect(found []*html.Node, n *html.Node, visit func(*html.Node) bool) []*html.Node {
	walk(n, func(c *html.Node) bool {
		if c == n {
			return true
		}
		if c.Type != html.ElementNode || !visit(c) {
			return false
		}
		if dom.Has(c, "itemprop") {
			found = append(found, c)
		}
		return !dom.Has(c, "itemscope")
	}, nil)
	return found
}

func (m *microdata) index() {
	if m.ids != nil {
		return
	}
	m.ids, m.order = map[string]*html.Node{}, map[*html.Node]int{}
	for n := range dom.Elements(m.root) {
		m.order[n] = len(m.order)
		if id, ok := dom.Find(n, "id"); ok && id != "" && m.ids[id] == nil {
			m.ids[id] = n
		}
	}
}
