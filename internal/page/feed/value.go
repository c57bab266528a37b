package feed

import "strings"

// value is the text of an element, without the text of inner elements.
type value struct {
	name      string
	depth     int
	at        urlBase
	kind      string // type of an Atom text
	permalink bool   // the guid is a URL
	b         strings.Builder
}

func (v *value) text(t []byte) {
	if room := maxValue - v.b.Len(); room < len(t) {
		t = t[:max(room, 0)]
	}
	v.b.Write(t)
}

// tag reads a tag within the value: HTML in Atom, or unescaped HTML.
func (v *value) tag(name string) {
	if isApart(strings.ToLower(name)) {
		v.text([]byte{' '})
	}
}

// url returns the value as a URL.
func (v *value) url() string { return v.at.resolve(strings.TrimSpace(v.b.String())) }

// title returns a title as plain text. Only Atom can have titles that are not HTML (RFC 4287
// section 3.1).
func (v *value) title(text string, atom bool) string {
	if atom && (v.kind == "" || v.kind == "text" || v.kind == "xhtml" || strings.HasSuffix(v.kind, "/xhtml+xml")) {
		return strings.Join(strings.Fields(text), " ")
	}
	return plain(text)
}

// assign stores a value. If one occurs several times, the first counts.
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
	case "guid": // in RSS the URL of the item, unless isPermaLink is false
		if v.permalink && (strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")) {
			set(&p.pages().html, v.url())
		}
	case "language", "dc:language":
		set(&p.feed.Language, text)
	default: // a description
		set(&p.feed.Description, text)
	}
}

// set sets a field unless it has a value.
func set(field *string, text string) {
	if *field == "" {
		*field = text
	}
}
