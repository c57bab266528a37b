package structured

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/base/jsontext"
	"seine/internal/page/dom"
)

// Meta is the content of meta elements, in document order.
type Meta []MetaProperty

// MetaProperty is one name of one meta element, in lower case, with the element's content, trimmed
// and never empty.
type MetaProperty struct {
	Name, Content string
}

// Metas returns the meta elements of the page that have a name, a property or both, or an itemprop:
// one entry for each name. It omits the itemprop of an item on the page. A property may hold
// several names, as in RDFa. If content is missing, the attribute "value" counts, as in the first
// Twitter cards. Elements in the body count too: many pages have them there.
func Metas(root *html.Node) Meta {
	r := metaReader{left: maxMetaBytes}
	for n := range dom.Elements(root) {
		if dom.Is(n, atom.Meta) && !r.read(n) {
			break
		}
	}
	return r.found
}

// metaReader collects entries within the limits.
type metaReader struct {
	found Meta
	left  int // bytes
}

// isScoped reports whether an element is inside an item.
func isScoped(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if dom.Has(n, "itemscope") || dom.Has(n, "typeof") {
			return true
		}
	}
	return false
}

// read reads one meta element, and reports whether more may be read.
func (r *metaReader) read(n *html.Node) bool {
	content, ok := dom.Find(n, "content")
	if !ok {
		content, _ = dom.Find(n, "value")
	}
	if content = strings.TrimSpace(content); content == "" {
		return true
	}
	property, _ := dom.Find(n, "property")
	property = strings.ToLower(property)
	if itemprop, ok := dom.Find(n, "itemprop"); ok && property == "" {
		property = strings.ToLower(itemprop)
	}
	for name := range tokens(property) {
		if scoped := !strings.Contains(name, ":") && isScoped(n); !scoped && !r.add(name, content) {
			return false
		}
	}
	name, _ := dom.Find(n, "name")
	name = strings.ToLower(strings.TrimSpace(name))
	return name == "" || hasToken(property, name) || r.add(name, content)
}

func (r *metaReader) add(name, content string) bool {
	r.left -= len(name) + len(content)
	if r.left < 0 || len(r.found) == maxMetas {
		return false
	}
	r.found = append(r.found, MetaProperty{name, content})
	return true
}

// Get returns the contents for a name, ignoring ASCII case, in order.
func (m Meta) Get(name string) []string {
	var contents []string
	for _, p := range m {
		if strings.EqualFold(p.Name, name) {
			contents = append(contents, p.Content)
		}
	}
	return contents
}

// openGraphPrefixes are the prefixes of the Open Graph protocol and of its object types.
var openGraphPrefixes = []string{
	"og:", "article:", "product:", "book:", "profile:", "music:", "video:", "fb:",
}

const twitterPrefix = "twitter:"

func isOpenGraph(name string) bool {
	for _, prefix := range openGraphPrefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func isTwitter(name string) bool {
	return strings.HasPrefix(name, twitterPrefix)
}

// OpenGraph returns the entries of the Open Graph protocol.
func (m Meta) OpenGraph() Meta {
	return m.filter(isOpenGraph)
}

// Twitter returns the entries of Twitter cards.
func (m Meta) Twitter() Meta {
	return m.filter(isTwitter)
}

func (m Meta) filter(keep func(string) bool) Meta {
	var kept Meta
	for _, p := range m {
		if keep(p.Name) {
			kept = append(kept, p)
		}
	}
	return kept
}

// structuredParts are the sub-properties of Open Graph properties (ogp.me, "Structured Properties"
// and "Object Types"). Similar names, such as og:video:tag, are properties of the page.
var structuredParts = map[string][]string{
	"og:image":    {"url", "secure_url", "type", "width", "height", "alt", "user_generated"},
	"og:video":    {"url", "secure_url", "type", "width", "height", "alt"},
	"og:audio":    {"url", "secure_url", "type"},
	"music:song":  {"url", "disc", "track"},
	"music:album": {"url", "disc", "track"},
	"video:actor": {"url", "role"},
}

// structuredName splits the name of a sub-property, og:image:width, or of a property with
// sub-properties, og:image.
func structuredName(name string) (parent, part string, ok bool) {
	if structuredParts[name] != nil {
		return name, "url", true
	}
	i := strings.LastIndexByte(name, ':')
	if i < 0 || !slices.Contains(structuredParts[name[:i]], name[i+1:]) {
		return "", "", false
	}
	return name[:i], name[i+1:], true
}

// metaGroup has the entries under one key of the JSON form: contents, or objects.
type metaGroup struct {
	name     string
	contents []string
	objects  []Meta
}

// groups groups the entries of one name, at the position of the first. It groups sub-properties
// into an object for each image, video and so on: they belong to the last object that precedes
// them.
func (m Meta) groups() []*metaGroup {
	var groups []*metaGroup
	byName := map[string]*metaGroup{}
	for _, p := range m {
		parent, part, structured := structuredName(p.Name)
		key := p.Name
		if structured {
			key = parent
		}
		g := byName[key]
		if g == nil {
			g = &metaGroup{name: key}
			byName[key] = g
			groups = append(groups, g)
		}
		if structured {
			g.addPart(part, p)
		} else {
			g.contents = append(g.contents, p.Content)
		}
	}
	return groups
}

// addPart adds a sub-property to the last object. og:image begins a new object. So does
// og:image:url, its other name, unless it repeats the object's URL, or is the first to set it.
func (g *metaGroup) addPart(part string, p MetaProperty) {
	last := len(g.objects) - 1
	begins := last < 0 || part == "url"
	if last >= 0 && part == "url" && p.Name != g.name {
		urls := g.objects[last].Get(part)
		begins = len(urls) > 0 && urls[0] != p.Content
		if len(urls) > 0 && !begins {
			return
		}
	}
	entry := MetaProperty{part, p.Content}
	if begins {
		g.objects = append(g.objects, Meta{entry})
		return
	}
	g.objects[last] = append(g.objects[last], entry)
}

// AppendJSON appends the entries as one object, in order: a name with one content is a string, and
// a repeated name is a list of strings. Open Graph properties with sub-properties (og:image,
// og:video, og:audio, music:song, music:album, video:actor) are always a list of objects, in which
// the value of og:image itself is "url": {"og:image": [{"url": "…", "width": "800"}]}.
func (m Meta) AppendJSON(b []byte) []byte {
	o := jsontext.Object{B: b}
	for _, g := range m.groups() {
		o.Key(g.name)
		switch {
		case g.objects != nil:
			o.B = jsontext.AppendList(o.B, g.objects, func(b []byte, m Meta) []byte { return m.AppendJSON(b) })
		case len(g.contents) == 1:
			o.B = jsontext.AppendString(o.B, g.contents[0])
		default:
			o.B = jsontext.AppendStrings(o.B, g.contents)
		}
	}
	return o.End()
}

// MarshalJSON is AppendJSON for encoding/json.
func (m Meta) MarshalJSON() ([]byte, error) {
	return m.AppendJSON(nil), nil
}
