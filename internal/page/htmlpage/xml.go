package htmlpage

import (
	"bytes"
	"html"

	"seine/internal/base/ascii"
)

// FromXML converts an XHTML page to HTML: an element that closes itself gets an end tag, unless it
// is empty in HTML, and CDATA sections are escaped. It copies the page only if something changes.
func FromXML(in []byte) []byte {
	const section = "<![CDATA["
	var out []byte
	var t tokenizer
	t.reset(in)
	copied := 0
	for t.pos = t.markup(); t.pos < len(in); t.pos = t.markup() {
		from := t.pos
		switch {
		case bytes.HasPrefix(in[from:], []byte(section)):
			out = append(out, in[copied:from]...)
			t.readSection(from + len(section))
			out = append(out, html.EscapeString(string(t.text))...)
			copied = t.pos
		case !has(in[from+1], isLetter):
			t.readMarkup()
		case !t.readTag(from + 1):
		case t.selfClosing && !ascii.Is(t.name, "br"): // HTML ignores the end tags of other empty elements
			out = append(out, in[copied:t.pos-len("/>")]...)
			out = append(append(append(out, "></"...), t.name...), '>')
			copied = t.pos
		case lookup(t.name) == elemScript:
			t.skipScript()
		}
	}
	if copied == 0 {
		return in
	}
	return append(out, in[copied:]...)
}
