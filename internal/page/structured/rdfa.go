package structured

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// RDFa returns what the page says in RDFa Lite 1.1 (the attributes vocab,
// typeof, property, resource and prefix, with the values that href, src, content
// and datetime give), and by about and xmlns:prefix, which older pages have,
// in the form of microdata: an item for each thing with a type or a property.
//
//   - An item is the value of the property that introduces it, or is in the list,
//     in tree order. Where it is meant again, its ID is the value.
//   - Types are IRIs. So are the names of properties, but for those in the
//     vocabulary of the item's first type, of which the term is kept: "name" and
//     not "http://schema.org/name".
//   - Meta elements of Open Graph and Twitter cards are left to [Meta].
//   - Links by rel and rev are not read: RDFa Lite has them not.
//
// Text is folded as that of [Microdata] is.
func RDFa(root *html.Node, base string) ([]*Item, []Problem) {
	r := rdfa{
		urls: newResolver(base), left: newBudget(), prefixes: newPrefixes(),
		subjects: map[string]*subject{}, said: map[statement]bool{},
	}
	r.document, _ = r.urls.resolve("")
	if r.document == "" {
		r.document = "about:blank" // a page of no known URL
	}
	walk(root, r.enter, r.leave)
	return r.items(), r.left.problems(partRDFa)
}

// items returns the things that are no property's value.
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

// shorten leaves the term of names in the vocabulary of the first type.
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

// subject is a thing that is spoken of.
type subject struct {
	builder
	depth  int  // in how many items it is
	nested bool // it is the value of a property
}

// statement is that a property of a thing has a text or IRI: said twice, it is
// one (RDF 1.1 Concepts, section 3).
type statement struct {
	about      *subject
	name, text string
}

// rdfaFrame is the context that an element makes for those in it.
type rdfaFrame struct {
	node  *html.Node
	vocab string
	undo  []binding
	topic *topic // shared by the elements within that do not change it
}

// topic is what properties are of: a thing, or where it has not been needed yet,
// that of an IRI, or of a link not resolved yet, or the document. Most links have
// no property in them.
type topic struct {
	about     *subject
	iri, href string
}

// isMarked reports whether an element has an attribute of RDFa's own.
func isMarked(n *html.Node) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool {
		switch a.Key {
		case "vocab", "prefix", "typeof", "property", "resource", "about":
			return a.Namespace == ""
		}
		return a.Namespace == "" && strings.HasPrefix(a.Key, "xmlns:")
	})
}

// linkOf returns the attribute that refers to something by a URL.
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

// declare takes vocab and prefixes into account (steps 2 and 3).
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

// vocabulary returns the IRI that terms are appended to. The slash that many
// pages forget behind schema.org is there by the resolution.
func (r *rdfa) vocabulary(v string) string {
	if v = strings.Trim(v, whitespace); v == "" {
		return ""
	}
	if u, ok := r.urls.resolve(v); ok {
		return u
	}
	return v
}

// establish finds what the element and those in it speak of (step 5), and adds
// types and properties. The element's frame is on top.
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

// turn makes the element speak of about, else of resource, href or src, and
// reports whether it has any. With rel, what is in the element speaks of the
// link's target (step 6).
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

// speakOf changes what properties are of. A resource that cannot be resolved changes
// nothing, and gives false.
func (r *rdfa) speakOf(f *rdfaFrame, resource string) bool {
	iri, ok := r.resource(resource)
	if ok {
		f.topic = &topic{iri: iri}
	}
	return ok
}

// typed adds an item as the value of a property, and makes what is in the
// element speak of that item.
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

// plain is the value of a property without a type: a URL, a time, or text. A rel
// with a prefix takes the link for itself (HTML+RDFa 1.1, section 3.1, rule 7).
func (r *rdfa) plain(n *html.Node) Value {
	_, isLink := linkOf(n)
	if !isLink && !dom.Has(n, "resource") || strings.Contains(dom.Attribute(n, "rel"), ":") {
		return Value{Text: r.literal(n)}
	}
	return Value{Text: r.target(n)}
}

// target is the IRI that resource, href or src give, or empty.
func (r *rdfa) target(n *html.Node) string {
	var iri string
	if resource, ok := dom.Find(n, "resource"); ok {
		iri, _ = r.resource(resource)
	} else if link, ok := linkOf(n); ok {
		iri, _ = r.urls.resolve(link)
	}
	return iri
}

// literal is what an element says: content, datetime or its text.
func (r *rdfa) literal(n *html.Node) string {
	for _, name := range []string{"content", "datetime"} {
		if v, ok := dom.Find(n, name); ok {
			return v
		}
	}
	return text(n, &r.left)
}

// resource resolves a CURIE, a safe one in brackets, or a reference.
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

// isOutermost reports whether an element without a resource speaks of what is
// around it, and so of the document (HTML+RDFa 1.1, section 3.1).
func isOutermost(n *html.Node) bool {
	return dom.Is(n, atom.Html) || dom.Is(n, atom.Head) || dom.Is(n, atom.Body)
}

// spoken returns what properties are of at a frame, made if it must be.
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

// newSubject adds a new thing; without an IRI it is a blank node.
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

// add adds a value under each name of a property, and reports whether it did
// under any.
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

// identify returns the ID of an item, which it gives one that has none: a blank
// node's.
func (r *rdfa) identify(i *Item) string {
	if i.ID == "" {
		i.ID = "_:item" + strconv.Itoa(len(r.all))
	}
	return i.ID
}
