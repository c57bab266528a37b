package structured

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// RDFa returns the page's RDFa Lite 1.1 (the attributes vocab, typeof, property, resource and
// prefix, with the values of href, src, content and datetime). It also reads about and
// xmlns:prefix, which older pages have. The result has the form of microdata: an item for each
// thing with a type or a property.
//
//   - An item is the value of the property that introduces it, or is in the list, in tree
//     order. Where it is referred to again, its ID is the value.
//   - Types are IRIs. So are the names of properties, except those in the vocabulary of the
//     item's first type, of which only the term is kept: "name" and not
//     "http://schema.org/name".
//   - Meta elements of Open Graph and Twitter cards are left to [Meta].
//   - Links by rel and rev are not read: RDFa Lite lacks them.
//
// Text is folded as in [Microdata].
func RDFa(root *html.Node, base string) ([]*Item, []Problem) {
	r := rdfa{
		urls: newResolver(base), left: newBudget(), prefixes: newPrefixes(),
		subjects: map[string]*subject{}, said: map[statement]bool{},
	}
	r.document, _ = r.urls.resolve("")
	if r.document == "" {
		r.document = "about:blank" // a page without a known URL
	}
	walk(root, r.enter, r.leave)
	return r.items(), r.left.problems(partRDFa)
}

// items returns the items that are not the value of a property.
func (r *rdfa) items() []*Item {
	var items []*Item
	for _, s := range r.all {
		if len(s.item.Types)+len(s.item.Properties) == 0 {
			continue
		}
		s.shorten()
		if !s.nested {
			items = append(items, s.item)
		}
	}
	return items
}

// shorten keeps only the term of property names in the vocabulary of the first type.
func (s *subject) shorten() {
	if len(s.item.Types) == 0 {
		return
	}
	first := s.item.Types[0]
	vocab := first[:1+strings.LastIndexAny(first, "/#")]
	for i := range s.item.Properties {
		p := &s.item.Properties[i]
		term, ok := strings.CutPrefix(p.Name, vocab)
		if ok && term != "" && !strings.ContainsAny(term, "/#") {
			p.Name = term
		}
	}
}

type rdfa struct {
	urls     *resolver
	document string // IRI
	left     budget
	prefixes prefixes
	frames   []rdfaFrame // the open elements that change the context
	page     topic       // the document

	subjects map[string]*subject // by IRI
	said     map[statement]bool
	all      []*subject // in tree order
}

// subject is the subject of statements.
type subject struct {
	builder
	depth  int  // number of items that contain it
	nested bool // the value of a property
}

// statement states that a property of a subject has a text or IRI. A repeated statement counts once
// (RDF 1.1 Concepts, section 3).
type statement struct {
	about      *subject
	name, text string
}

// rdfaFrame is the context of an element's content.
type rdfaFrame struct {
	node  *html.Node
	vocab string
	undo  []binding
	topic *topic // shared by inner elements that do not change it
}

// topic is the subject of properties. Until it is needed, it is only an IRI, an unresolved link, or
// neither for the document: most links have no property in them.
type topic struct {
	about     *subject
	iri, href string
}

// isMarked reports whether an element has an RDFa attribute.
func isMarked(n *html.Node) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool {
		switch a.Key {
		case "vocab", "prefix", "typeof", "property", "resource", "about":
			return a.Namespace == ""
		}
		return a.Namespace == "" && strings.HasPrefix(a.Key, "xmlns:")
	})
}

// linkOf returns the attribute that refers to another resource by a URL.
func linkOf(n *html.Node) (string, bool) {
	if href, ok := dom.Find(n, "href"); ok {
		return href, true
	}
	return dom.Find(n, "src")
}

// enter processes an element: RDFa Core 1.1, section 7.5.
func (r *rdfa) enter(n *html.Node) bool {
	if n.Type != html.ElementNode || r.left.spent {
		return !r.left.spent
	}
	if _, isLink := linkOf(n); !isMarked(n) && (!isLink || n.FirstChild == nil) {
		return true
	}
	f := rdfaFrame{node: n, topic: &r.page}
	if len(r.frames) > 0 {
		parent := &r.frames[len(r.frames)-1]
		f.vocab, f.topic = parent.vocab, parent.topic
	}
	r.declare(&f)
	r.frames = append(r.frames, f)
	r.establish(&r.frames[len(r.frames)-1])
	return true
}

func (r *rdfa) leave(n *html.Node) {
	last := len(r.frames) - 1
	if last < 0 || r.frames[last].node != n {
		return
	}
	r.prefixes.pop(r.frames[last].undo)
	r.frames = r.frames[:last]
}

// declare processes vocab and prefixes (steps 2 and 3).
func (r *rdfa) declare(f *rdfaFrame) {
	if vocab, ok := dom.Find(f.node, "vocab"); ok {
		f.vocab = r.vocabulary(vocab)
	}
	for _, x := range f.node.Attr {
		if name, ok := strings.CutPrefix(x.Key, "xmlns:"); ok && x.Namespace == "" {
			f.undo = r.prefixes.declare(name, x.Val, f.undo)
		}
	}
	f.undo = r.prefixes.push(dom.Attribute(f.node, "prefix"), f.undo)
}

// vocabulary returns the IRI to which terms are appended. Resolving adds the slash that many pages
// forget after schema.org.
func (r *rdfa) vocabulary(v string) string {
	if v = strings.Trim(v, whitespace); v == "" {
		return ""
	}
	if u, ok := r.urls.resolve(v); ok {
		return u
	}
	return v
}

// establish determines the subject of the element and of those in it (step 5), and adds types and
// properties. The element's frame is the last one.
func (r *rdfa) establish(f *rdfaFrame) {
	n := f.node
	isProperty, isTyped := dom.Has(n, "property"), dom.Has(n, "typeof")
	own := isProperty && !dom.Has(n, "content") && !dom.Has(n, "datatype")
	about, hasAbout := dom.Find(n, "about")
	switch {
	case own && isTyped && !hasAbout:
		r.typed(f)
		return
	case own && hasAbout:
		r.speakOf(f, about)
	case own:
	case r.turn(f):
	case isTyped && !isOutermost(n):
		f.topic = &topic{about: r.newSubject("")}
	}
	if isTyped {
		r.addTypes(r.spoken(f), f)
	}
	if own {
		r.add(f, r.plain(n))
	} else if isProperty {
		r.add(f, Value{Text: r.literal(n)})
	}
}

// turn sets the element's subject to about, otherwise to resource, href or src, and reports whether
// it has any. With rel, the subject of the content is the link's target (step 6).
func (r *rdfa) turn(f *rdfaFrame) bool {
	resource, hasResource := dom.Find(f.node, "resource")
	link, isLink := linkOf(f.node)
	about, hasAbout := dom.Find(f.node, "about")
	switch {
	case hasAbout && (!dom.Has(f.node, "rel") || !hasResource && !isLink):
		return r.speakOf(f, about)
	case hasResource:
		return r.speakOf(f, resource)
	case isLink:
		f.topic = &topic{href: link}
	}
	return isLink
}

// speakOf sets the subject. For a resource that cannot be resolved it changes nothing and returns
// false.
func (r *rdfa) speakOf(f *rdfaFrame, resource string) bool {
	iri, ok := r.resource(resource)
	if ok {
		f.topic = &topic{iri: iri}
	}
	return ok
}

// typed adds an item as the value of a property, and makes it the subject of the element's content.
func (r *rdfa) typed(f *rdfaFrame) {
	owner, iri := r.spoken(f), r.target(f.node)
	s, known := r.subjects[iri]
	if known = known && iri != ""; !known {
		s = r.newSubject(iri)
	}
	switch {
	case known:
		r.add(f, Value{Text: iri})
	case owner.depth+1 >= maxItemDepth:
		r.left.deep = true
	case r.add(f, Value{Item: s.item}):
		s.nested, s.depth = true, owner.depth+1
	}
	f.topic = &topic{about: s}
	r.addTypes(s, f)
}

// plain returns the value of a property without a type: a URL, a time, or text. A rel with a prefix
// takes precedence over the property for the link (HTML+RDFa 1.1, section 3.1, rule 7).
func (r *rdfa) plain(n *html.Node) Value {
	_, isLink := linkOf(n)
	if !isLink && !dom.Has(n, "resource") || strings.Contains(dom.Attribute(n, "rel"), ":") {
		return Value{Text: r.literal(n)}
	}
	return Value{Text: r.target(n)}
}

// target returns the IRI of resource, href or src, or "".
func (r *rdfa) target(n *html.Node) string {
	var iri string
	if resource, ok := dom.Find(n, "resource"); ok {
		iri, _ = r.resource(resource)
	} else if link, ok := linkOf(n); ok {
		iri, _ = r.urls.resolve(link)
	}
	return iri
}

// literal returns the literal value of an element: content, datetime or its text.
func (r *rdfa) literal(n *html.Node) string {
	for _, name := range []string{"content", "datetime"} {
		if v, ok := dom.Find(n, name); ok {
			return v
		}
	}
	return text(n, &r.left)
}

// resource resolves a CURIE, a safe CURIE in brackets, or a reference.
func (r *rdfa) resource(s string) (string, bool) {
	s = strings.Trim(s, whitespace)
	if inner, ok := strings.CutPrefix(s, "["); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); ok {
			return r.prefixes.curie(inner)
		}
	}
	if strings.HasPrefix(s, "_:") {
		return s, true
	}
	if iri, ok := r.prefixes.curie(s); ok {
		return iri, true
	}
	return r.urls.resolve(s)
}

// isOutermost reports whether an element without a resource has the subject of its surroundings,
// which is the document (HTML+RDFa 1.1, section 3.1).
func isOutermost(n *html.Node) bool {
	return dom.Is(n, atom.Html) || dom.Is(n, atom.Head) || dom.Is(n, atom.Body)
}

// spoken returns the subject at a frame, and creates it if needed.
func (r *rdfa) spoken(f *rdfaFrame) *subject {
	t := f.topic
	if t.about != nil {
		return t.about
	}
	switch {
	case t.iri != "":
	case t.href != "":
		var ok bool
		if t.iri, ok = r.urls.resolve(t.href); !ok {
			t.iri = t.href
		}
	default:
		t.iri = r.document
	}
	if t.about = r.subjects[t.iri]; t.about == nil {
		t.about = r.newSubject(t.iri)
	}
	return t.about
}

// newSubject adds a new subject; without an IRI it is a blank node.
func (r *rdfa) newSubject(iri string) *subject {
	s := &subject{builder: builder{item: &Item{ID: iri}}}
	if iri != "" {
		r.subjects[iri] = s
	}
	r.all = append(r.all, s)
	return s
}

func (r *rdfa) addTypes(s *subject, f *rdfaFrame) {
	for t := range tokens(dom.Attribute(f.node, "typeof")) {
		iri, ok := r.prefixes.name(t, f.vocab)
		if !ok || slices.Contains(s.item.Types, iri) {
			continue
		}
		if len(s.item.Types) >= maxTypes || !r.left.spend(1, len(iri)) {
			return
		}
		s.item.Types = append(s.item.Types, iri)
	}
}

// add adds a value under each name of a property, and reports whether it did so under any.
func (r *rdfa) add(f *rdfaFrame, v Value) bool {
	added := false
	for t := range tokens(dom.Attribute(f.node, "property")) {
		lower := strings.ToLower(t)
		if dom.Is(f.node, atom.Meta) && (isOpenGraph(lower) || isTwitter(lower)) {
			continue
		}
		name, ok := r.prefixes.name(t, f.vocab)
		if !ok {
			continue
		}
		if added && v.Item != nil {
			v = Value{Text: r.identify(v.Item)}
		}
		about := r.spoken(f)
		said := statement{about, name, v.Text}
		if v.Item == nil && r.said[said] {
			continue
		}
		if !r.left.spend(1, len(name)+len(v.Text)) {
			return added
		}
		if v.Item == nil {
			r.said[said] = true
		}
		about.add(name, v)
		added = true
	}
	return added
}

// identify returns the ID of an item. It gives an item without one the ID of a blank node.
func (r *rdfa) identify(i *Item) string {
	if i.ID == "" {
		i.ID = "_:item" + strconv.Itoa(len(r.all))
	}
	return i.ID
}
