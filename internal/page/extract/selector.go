package extract

import (
	"fmt"
	"iter"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/chunk"
	"seine/internal/page/css"
	"seine/internal/page/document"
	"seine/internal/page/dom"
	"seine/pkg/crawlspec"
)

// selector is a compiled crawlspec.Selector.
type selector struct {
	from string // of an Each: main, sections, chunks
	// chunks are the options of chunks.
	chunks chunk.Options
	css    *css.Selector
	xpath  *xpathExpr
	ld     *query
	meta   string
	regex  *pattern
	jq     *query
}

// selector compiles a selector that is relative to inputs of a kind, and returns the kind of the
// items that it finds.
func (c *compiler) selector(s crawlspec.Selector, path string, in inputKind) (*selector, inputKind) {
	var err error
	out := &selector{meta: strings.ToLower(s.Meta)}
	note := func(key string) { c.failed(path+"."+key, err) }
	found := in
	if s.CSS != "" {
		out.css, err = compileCSS(s.CSS)
		note("css")
		c.markup(path+".css", "css", in, treeTypes)
		found = amongNodes
	}
	if s.XPath != "" {
		out.xpath, err = compileXPath(s.XPath)
		note("xpath")
		c.markup(path+".xpath", "xpath", in, xpathable)
		found = amongNodes
	}
	if s.JSONLD != "" {
		out.ld, err = compileJQ(s.JSONLD)
		note("json_ld")
		c.needs(path+".json_ld", "json_ld", treeTypes)
		found = amongValues
	}
	if s.Meta != "" {
		c.needs(path+".meta", "meta", treeTypes)
		found = amongTexts
	}
	if s.Regex != "" {
		out.regex, err = compilePattern(s.Regex)
		note("regex")
		found = amongTexts
	}
	if s.JQ != "" {
		out.jq, err = compileJQ(s.JQ)
		note("jq")
		if in == amongPage && found == amongPage {
			c.needs(path+".jq", "jq", jqable)
		}
		found = amongValues
	}
	return out, found
}

// first marks that the first result of the selector is usually enough.
func (s *selector) first() {
	for _, q := range []*query{s.jq, s.ld} {
		if q != nil {
			q.first = true
		}
	}
}

// each compiles the selector of the items that records or links are made from, and returns their
// kind.
func (c *compiler) each(m *crawlspec.Each, path string) (*selector, inputKind) {
	switch {
	case m == nil:
		return nil, amongPage
	case m.From == "":
		return c.selector(m.Selector, path, amongPage)
	}
	if t := treeTypes; m.From == crawlspec.EachChunk {
		c.needs(path+".from", "from", t|typeText)
	} else {
		c.needs(path+".from", "from", t)
	}
	return &selector{from: m.From}, amongNodes
}

// markup records that a key reads markup of some document types, and reports where it cannot.
func (c *compiler) markup(path, what string, in inputKind, t types) {
	if in == amongValues || in == amongTexts {
		c.failed(path, fmt.Errorf("%s finds nothing in %s: use jq or regex", what, in))
		return
	}
	c.needs(path, what, t)
}

// bare reports whether a selector has no source.
func (s *selector) bare() bool {
	return s.from == "" && s.css == nil && s.xpath == nil && s.ld == nil && s.meta == ""
}

// jqFirst reports whether jq selects: if the item is JSON and the selector is bare.
func (s *selector) jqFirst(r *run, in item) bool {
	return s.jq != nil && s.bare() && (in.kind == itemValue || in.kind == itemPage && typeOf(r.doc)&jqable != 0)
}

// source yields the selected items, before regex, and before jq if that reads a text.
func (s *selector) source(r *run, in item, yield func(item) bool) error {
	switch {
	case s.from != "":
		return r.selectContent(s, yield)
	case s.css != nil:
		root, err := r.root(in)
		if err != nil || root == nil {
			return err
		}
		return r.selectCSS(root, s.css, yield)
	case s.xpath != nil:
		from, err := r.tree(in)
		if err != nil {
			return err
		}
		if from.kind == itemPage {
			if typeOf(r.doc) == typeFeed {
				r.note(r.index, r.field, "xpath reads feeds that are XML, and this one is JSON: use jq")
			}
			return nil
		}
		return r.selectXPath(from, s.xpath, yield)
	case s.ld != nil:
		return r.selectLD(s.ld, yield)
	case s.meta != "":
		return r.selectMeta(s.meta, yield)
	case s.jqFirst(r, in):
		v, ok, err := r.value(in)
		if err != nil {
			return err
		}
		if !ok {
			if typeOf(r.doc) == typeFeed {
				r.note(r.index, r.field, "jq reads feeds that are JSON, and this one is XML: use xpath")
			}
			return nil
		}
		return jqRun{r}.selectJQ(v, s.jq, in.ahead, yield)
	}
	yield(in)
	return nil
}

// all yields the items of a selector, with regex and jq applied.
func (s *selector) all(r *run, in item, yield func(item) bool) error {
	var failed error
	more := true
	err := s.source(r, in, func(i item) bool {
		more, failed = s.refine(r, in, i, yield)
		return more && failed == nil
	})
	if failed != nil {
		return failed
	}
	return err
}

// refine applies regex and jq to a selected item.
func (s *selector) refine(r *run, in, i item, yield func(item) bool) (more bool, err error) {
	jq := s.jq
	if s.jqFirst(r, in) {
		jq = nil
	}
	if s.regex == nil && jq == nil {
		return yield(i), nil
	}
	get := getRaw
	if s.bare() {
		get = getOuter
	}
	text, err := r.get(i, get)
	if err != nil {
		return false, err
	}
	for text, err := range s.matches(r, text) {
		if err != nil {
			return false, err
		}
		if jq == nil {
			more = yield(textItem(text))
		} else {
			more, err = r.parsed(text, jq, yield)
		}
		if err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// matches yields the matches of the regular expression in a text, at most MaxValues: the first
// group of each, or the whole match if it has no groups. Without a regular expression it yields the
// text.
func (s *selector) matches(r *run, text string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if s.regex == nil {
			yield(text, nil)
			return
		}
		n := 0
		for m, err := range s.regex.all(text, r.spend) {
			group := m // the whole match
			if len(m) > 2 {
				group = m[2:]
			}
			switch {
			case err != nil:
				yield("", err)
				return
			case group[0] >= 0 && !yield(text[group[0]:group[1]], nil):
				return
			}
			if n++; n == MaxValues {
				return
			}
		}
	}
}

// parsed yields the results of jq for a JSON text, and nothing for other texts. It ignores text
// after the first value, such as the semicolon of a script.
func (r *run) parsed(text string, jq *query, yield func(item) bool) (more bool, err error) {
	v, _, err := document.Value([]byte(text))
	if err != nil {
		r.note(r.index, r.field, "%v", err)
		return true, nil
	}
	more = true
	err = jqRun{r}.selectJQ(v, jq, nil, func(i item) bool {
		more = yield(i)
		return more
	})
	return more, err
}

// root returns the HTML node of an item, or nil if it has none.
func (r *run) root(in item) (*html.Node, error) {
	switch {
	case in.kind == itemNode:
		return in.node, nil
	case in.kind == itemPage && r.doc.IsHTML():
		return r.doc.Root()
	}
	return nil, nil
}

// tree returns the HTML or XML node of an item, or the zero item if it has none.
func (r *run) tree(in item) (item, error) {
	switch {
	case in.kind == itemNode || in.kind == itemXML:
		return in, nil
	case in.kind != itemPage:
		return item{}, nil
	case r.doc.IsHTML():
		n, err := r.doc.Root()
		return nodeItem(n), err
	case typeOf(r.doc)&(typeXML|typeFeed|typeSitemap) != 0 && !r.jsonFeed():
		n, err := r.doc.XML()
		r.noteBroken()
		return item{kind: itemXML, xml: n}, err
	}
	return item{}, nil
}

// noteBroken notes, once, the fault of a document that was read nevertheless.
func (r *run) noteBroken() {
	if broken := r.doc.Broken(); broken != "" && !r.broken {
		r.broken = true
		r.note(r.index, r.field, "%s", broken)
	}
}

// jsonFeed reports whether the document is a feed in JSON.
func (r *run) jsonFeed() bool {
	return typeOf(r.doc) == typeFeed && strings.HasPrefix(strings.TrimSpace(string(r.doc.Body()[:min(len(r.doc.Body()), 64)])), "{")
}

// value returns the JSON value of an item.
func (r *run) value(in item) (v any, ok bool, err error) {
	switch {
	case in.kind == itemValue:
		return in.value, true, nil
	case in.kind == itemPage && (typeOf(r.doc)&(typeJSON|typeCSV|typeSitemap) != 0 || r.jsonFeed()):
		v, err = r.doc.JSON()
		r.noteBroken()
		return v, err == nil, err
	}
	return nil, false, nil
}

// selectLD yields the results of jq for the objects of the page's JSON-LD, in their order.
func (r *run) selectLD(q *query, yield func(item) bool) error {
	if !r.doc.IsHTML() {
		return nil
	}
	objects, err := r.doc.JSONLD()
	more := true
	for _, v := range objects {
		if err != nil || !more {
			break
		}
		err = jqRun{r}.selectJQ(v, q, nil, func(i item) bool {
			more = yield(i)
			return more
		})
	}
	return err
}

// selectMeta yields the contents of the meta elements with a name or property.
func (r *run) selectMeta(name string, yield func(item) bool) error {
	root, err := r.root(item{})
	if err != nil || root == nil {
		return err
	}
	for n := range dom.Descendants(root) {
		if err := r.spend(1); err != nil {
			return err
		}
		if n.Type != html.ElementNode || n.DataAtom != atom.Meta {
			continue
		}
		is := strings.EqualFold(document.Attribute(n, "name"), name) || strings.EqualFold(document.Attribute(n, "property"), name) ||
			strings.EqualFold(document.Attribute(n, "itemprop"), name)
		if is && !yield(textItem(document.Attribute(n, "content"))) {
			return nil
		}
	}
	return nil
}

// truth reports whether a found item makes a condition true: false, "" and null do not.
func (i item) truth() bool {
	switch i.kind {
	case itemValue:
		return i.value != nil && i.value != false && i.value != ""
	case itemText:
		return i.text != ""
	default:
		return true
	}
}
