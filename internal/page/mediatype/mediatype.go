package mediatype

const (
	mediaHTML     = "text/html"
	mediaXHTML    = "application/xhtml+xml"
	mediaXML      = "application/xml"
	mediaRSS      = "application/rss+xml"
	mediaAtom     = "application/atom+xml"
	mediaJSON     = "application/json"
	mediaJSONFeed = "application/feed+json"
	mediaNDJSON   = "application/x-ndjson"
	mediaSVG      = "image/svg+xml"
	mediaText     = "text/plain"
	mediaPDF      = "application/pdf"
	mediaOctets   = "application/octet-stream"
)

// Type is the type of a body.
type Type struct {
	// Media is the effective type, in lower case, without parameters.
	Media string
	// Class is the class of Media. For XML it also depends on the root element.
	Class Class
	// Declared is the type of the header, or "".
	Declared string
	// Sniffed is the type according to the bytes, if it differs from the declared type or if none
	// is declared; otherwise, and if the bytes are inconclusive, it is "".
	Sniffed string
	// Mismatch is set if a type is declared and the bytes are something else. With nosniff, and for
	// text/plain, Media is the declared type nevertheless.
	Mismatch bool
}

// finding is the certain result of checking bytes; the zero value if they are inconclusive.
type finding struct {
	media string
	class Class
}

// Of returns the type of a body. nosniff means that its response has "X-Content-Type-Options:
// nosniff".
func Of(contentType string, body []byte, nosniff bool) Type {
	declared := Declared(contentType)
	t := Type{Media: declared, Class: classOf(declared), Declared: declared}
	if t.Class == HTML && beginsHTML(body) {
		return t
	}
	if generic(declared) {
		return t.unknown(body, nosniff)
	}
	if t.Class == Other {
		return t // another container, or source text
	}
	head := headOf(body)
	found := find(head, len(body) > headLength, t.Class)
	if t.Class == Text && found.class == Other && apacheBug(contentType) && !isText(head) {
		found = finding{media: mediaOctets}
	}
	return t.resolve(found, nosniff)
}

// unknown returns the type of a body whose header says nothing: the "rules for identifying an
// unknown MIME type" (section 7.1).
func (t Type) unknown(body []byte, nosniff bool) Type {
	if nosniff && !Undefined(t.Declared) {
		return t
	}
	head := headOf(body)
	found := find(head, len(body) > headLength, Other)
	scriptable := found.class.markup() || found.class == PDF
	switch {
	case found.media != "" && !(nosniff && scriptable):
	case isText(head):
		found = finding{mediaText, Text}
	default:
		found = finding{media: mediaOctets}
	}
	t.Media, t.Class, t.Sniffed = found.media, found.class, found.media
	return t
}

// resolve combines the declared type with the finding.
func (t Type) resolve(found finding, nosniff bool) Type {
	switch {
	case found.media == "" || t.agrees(found):
		return t
	case t.refines(found):
		if found.class != Sitemap {
			t.Media = found.media
		}
		t.Class = found.class
		return t
	}
	t.Sniffed, t.Mismatch = found.media, true
	if !nosniff && t.yields(found) {
		t.Media, t.Class = found.media, found.class
	}
	return t
}

// agrees reports whether the finding matches the declared type.
func (t Type) agrees(found finding) bool {
	switch {
	case t.Class == Image || t.Class == Archive:
		return same(t.Media, found.media)
	case t.Class == Office && found.media == "application/zip":
		return true // most office files are ZIP archives
	case t.Class == Audio || t.Class == Video: // one container format holds either
		return found.class == Audio || found.class == Video
	case t.Class == Feed && found.class == XML, t.Class == NDJSON && found.class == JSON:
		return true // the header is more specific
	}
	return t.Class == found.class && (t.Class != Feed || t.Media == found.media)
}

// refines reports whether the finding is more specific than the declared type and compatible with
// it: XML by its root element, or a JSON Feed.
func (t Type) refines(found finding) bool {
	isJSON := found.media == mediaJSONFeed
	switch t.Class {
	case XML, Feed:
		return found.class == Feed && isJSON == (t.Media == mediaJSONFeed) ||
			t.Class == XML && (found.class == Sitemap || found.media == mediaXHTML || found.media == mediaSVG)
	case JSON:
		return isJSON || found.class == NDJSON
	default:
		return false
	}
}

// yields reports whether the finding overrides the declared type.
func (t Type) yields(found finding) bool {
	switch t.Class {
	case Text:
		return found.class.binary() && found.media != mediaSVG || found.class == Other
	case HTML:
		return found.class != XML && found.class != HTML && found.media != mediaSVG // pages may begin with inline images
	case CSV:
		return found.class.binary() || found.class.markup()
	default:
		return true
	}
}
