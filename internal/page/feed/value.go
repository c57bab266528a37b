package feed

import (
	"encoding/xml"
	"html"
	"strconv"
	"strings"

	"seine/internal/base/truncate"
)

// value is the text of an element, with the markup that is in it.
type value struct {
	name, parent string
	depth        int
	at           urlBase
	kind         string // the type of a text of Atom
	permalink    bool   // a guid is a URL
	b            strings.Builder
}

func (v *value) text(t []byte) {
	if room := maxValue - v.b.Len(); room < len(t) {
		t = t[:max(room, 0)]
	}
	if v.kind == "xhtml" || strings.HasSuffix(v.kind, "/xhtml+xml") {
		v.b.WriteString(html.EscapeString(string(t)))
		return
	}
	v.b.Write(t)
}

// tag writes a tag within the value: HTML in Atom, or that someone forgot to escape.
// The element that Atom wants around its XHTML is written too.
func (v *value) tag(t xml.StartElement) {
	if v.b.Len() >= maxValue {
		return
	}
	v.b.WriteString("<" + t.Name.Local)
	for _, a := range t.Attr {
		if a.Name.Local == "xmlns" || a.Name.Space == "xmlns" || v.b.Len() >= maxValue {
			continue
		}
		v.b.WriteString(" " + a.Name.Local + `="` + html.EscapeString(truncate.To(a.Value, maxURL)) + `"`)
	}
	v.b.WriteByte('>')
}

func (v *value) endTag(t xml.EndElement) {
	switch strings.ToLower(t.Name.Local) {
	case "br", "img", "hr", "input", "source", "wbr", "col", "embed", "area":
		return
	}
	if v.b.Len() < maxValue {
		v.b.WriteString("</" + t.Name.Local + ">")
	}
}

// byAttributes reads elements that say what they say in attributes, and reports
// whether it was one.
func (p *parser) byAttributes(e element, t xml.StartElement) bool {
	switch e.name {
	case "link":
		href := reference(t, "href")
		if href == "" {
			return false
		}
		p.link(Link{Rel: relation(attr(t, "rel")), URL: e.at.resolve(href), Type: strings.ToLower(attr(t, "type"))}, attr(t, "length"))
	case "enclosure":
		p.enclosure(Enclosure{URL: e.at.resolve(reference(t, "url")), Type: attr(t, "type"), Length: length(attr(t, "length"))})
	case "media:content":
		p.enclosure(Enclosure{URL: e.at.resolve(reference(t, "url")), Type: attr(t, "type"), Length: length(attr(t, "filesize"))})
	case "category":
		term := attr(t, "term")
		if term == "" || p.item == nil {
			return term != ""
		}
		if label := attr(t, "label"); label != "" {
			term = label
		}
		p.item.Categories = category(p.item.Categories, term)
	default:
		return false
	}
	return true
}

// relation returns a relation by its short name (RFC 4287 section 4.2.7.2).
func relation(rel string) string {
	rel = strings.ToLower(strings.TrimPrefix(rel, "http://www.iana.org/assignments/relation/"))
	switch rel {
	case "":
		return "alternate"
	case "previous":
		return "prev"
	}
	return rel
}

func length(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func (p *parser) link(l Link, size string) {
	switch {
	case p.top() == "link" && len(p.open) > 1 && p.open[len(p.open)-2].name == "source": // of another feed
	case p.item == nil:
		p.feed.Links = link(p.feed.Links, l)
	case l.Rel == "enclosure":
		p.enclosure(Enclosure{URL: l.URL, Type: l.Type, Length: length(size)})
	default:
		p.item.Links = link(p.item.Links, l)
	}
}

// enclosure adds a file to the item. Media RSS often repeats what is there.
func (p *parser) enclosure(e Enclosure) {
	if p.item == nil || e.URL == "" || len(p.item.Enclosures) >= maxList {
		return
	}
	for _, have := range p.item.Enclosures {
		if have.URL == e.URL {
			return
		}
	}
	p.item.Enclosures = append(p.item.Enclosures, e)
}

// assign puts a value where it belongs. Of several the first counts.
func (p *parser) assign(v *value) {
	text := valid(strings.TrimSpace(v.b.String()))
	if text == "" {
		return
	}
	if p.item != nil {
		p.item.setField(v, text, p.feed.Format)
		return
	}
	f := p.feed
	switch v.name {
	case "title", "dc:title":
		set(&f.Title, v.title(text, f.Format))
	case "description", "subtitle", "tagline", "itunes:summary", "dc:description":
		set(&f.Description, text)
	case "language", "dc:language":
		set(&f.Language, text)
	case "link":
		u := v.url()
		set(&f.Link, u)
		f.Links = link(f.Links, Link{Rel: "alternate", URL: u})
	case "lastbuilddate", "updated", "modified", "pubdate", "dc:date", "dcterms:modified":
		if t := date(text); t.After(f.Updated) {
			f.Updated = t
		}
	}
}

// url returns the URL that the value is.
func (v *value) url() string { return v.at.resolve(strings.TrimSpace(v.b.String())) }

// title returns a title as plain text. Only Atom has titles that are no HTML (RFC 4287
// section 3.1).
func (v *value) title(text string, format Format) string {
	if format == Atom && (v.kind == "" || v.kind == "text") {
		return strings.Join(strings.Fields(text), " ")
	}
	return plain(text)
}

// set keeps the first value there is.
func set(field *string, text string) {
	if *field == "" {
		*field = text
	}
}

func (i *Item) setField(v *value, text string, format Format) {
	switch v.name {
	case "title", "dc:title":
		set(&i.Title, v.title(text, format))
	case "link":
		u := v.url()
		set(&i.URL, u)
		i.Links = link(i.Links, Link{Rel: "alternate", URL: u})
	case "guid", "id":
		i.identify(v, text)
	case "dc:identifier":
		set(&i.ID, truncate.To(text, maxURL))
	case "description", "summary", "itunes:summary", "dc:description":
		set(&i.Summary, text)
	case "content", "content:encoded":
		set(&i.Content, text)
		i.Base = v.at.url
	case "name", "dc:creator", "itunes:author", "author":
		i.Author = names(i.Author, person(text))
	case "category", "dc:subject":
		i.Categories = category(i.Categories, text)
	case "pubdate", "published", "issued", "created", "dc:date", "dcterms:issued", "dcterms:created":
		if i.Published.IsZero() {
			i.Published = date(text)
		}
	case "updated", "modified", "dcterms:modified":
		if i.Updated.IsZero() {
			i.Updated = date(text)
		}
	}
}

// identify takes the identity of an item, which of RSS is its URL unless it says no.
func (i *Item) identify(v *value, text string) {
	i.ID = truncate.To(text, maxURL)
	if v.name == "guid" && v.permalink && (strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")) {
		i.Links = link(i.Links, Link{Rel: "alternate", URL: v.url()})
	}
}

// person returns the name in "joe@example.com (Joe)", and an address without one as
// it is.
func person(text string) string {
	if open := strings.IndexByte(text, '('); open > 0 && strings.HasSuffix(text, ")") && strings.Contains(text[:open], "@") {
		return text[open+1 : len(text)-1]
	}
	return text
}
