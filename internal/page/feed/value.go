package feed

import "strings"

// value is the text of an element, without elements that are in it.
type value struct {
	name      string
	depth     int
	at        urlBase
	kind      string // the type of a text of Atom
	permalink bool   // a guid is a URL
	b         strings.Builder
}

func (v *value) text(t []byte) {
	if room := maxValue - v.b.Len(); room < len(t) {
		t = t[:max(room, 0)]
	}
	v.b.Write(t)
}

// tag takes a tag within the value: HTML in Atom, or that someone forgot to escape.
func (v *value) tag(name string) {
	if isApart(strings.ToLower(name)) {
		v.text([]byte{' '})
	}
}

// url returns the URL that the value is.
func (v *value) url() string { return v.at.resolve(strings.TrimSpace(v.b.String())) }

// title returns a title as plain text. Only Atom has titles that are not HTML (RFC 4287
// section 3.1).
func (v *value) title(text string, atom bool) string {
	if atom && (v.kind == "" || v.kind == "text" || v.kind == "xhtml" || strings.HasSuffix(v.kind, "/xhtml+xml")) {
		return strings.Join(strings.Fields(text), " ")
	}
	return plain(text)
}

// assign puts a value where it belongs. Of several the first counts.
func (p *parser) assign(v *value) {
	text := valid(strings.TrimSpace(v.b.String()))
	if text == "" {
		return
	}
	switch v.name {
	case "title", "dc:title":
		set(p.title(), v.title(text, p.atom))
	case "link":
		set(&p.pages().text, v.url())
	case "guid": // in RSS the URL of the item, unless it says no
		if v.permalink && (strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")) {
			set(&p.pages().html, v.url())
		}
	case "language", "dc:language":
		set(&p.feed.Language, text)
	default: // a description
		set(&p.feed.Description, text)
	}
}

// set keeps the first value there is.
func set(field *string, text string) {
	if *field == "" {
		*field = text
	}
}
