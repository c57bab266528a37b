package htmlpage

import (
	"bytes"

	"seine/internal/base/ascii"
)

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenText
	tokenRaw // text in which "&" is itself: script, style, xmp …
	tokenStart
	tokenClose
)

// maxAttrs bounds the kept attributes of a tag; the others are skipped. It bounds the memory of a
// tag that is megabytes long.
const maxAttrs = 64

// span is a range of the page. int32 is enough for any page that the fetcher accepts, and keeps the
// attribute table small; Scan rejects larger input.
type span struct{ from, to int32 }

type attribute struct{ key, value span }

// tokenizer yields the tokens of an HTML document as slices of its bytes, by the states of HTML
// section 13.2.5. It skips comments, doctypes and processing instructions. It does not decode
// character references: most text has none, and the consumer decodes what it keeps.
type tokenizer struct {
	in   []byte
	pos  int
	from int // of the last token

	text        []byte // of tokenText and tokenRaw
	name        []byte // of a tag, in the page's case
	selfClosing bool

	// cdata makes <![CDATA[ a section rather than a comment. The consumer sets
	// it in foreign content (section 13.2.5.42).
	cdata bool

	attrs  [maxAttrs]attribute
	nAttrs int

	seenAttrs int // including those that are not kept
}

func (t *tokenizer) reset(in []byte) {
	t.in, t.pos, t.from, t.nAttrs = in, 0, 0, 0
	t.text, t.name = nil, nil
	t.selfClosing, t.cdata = false, false
}

// next reads one token.
func (t *tokenizer) next() tokenKind {
	for t.pos < len(t.in) {
		t.from = t.pos
		if i := t.markup(); i > t.pos {
			t.text, t.pos = t.in[t.pos:i], i
			return tokenText
		}
		if kind, ok := t.readMarkup(); ok {
			return kind
		}
	}
	return tokenEnd
}

// markup returns the end of the text at pos: the next "<" that opens a tag, a comment or a
// declaration. Any other "<" is text (section 13.2.5.6).
func (t *tokenizer) markup() int {
	for i := t.pos; ; i++ {
		j := bytes.IndexByte(t.in[i:], '<')
		if j < 0 || i+j+1 >= len(t.in) {
			return len(t.in)
		}
		i += j
		switch c := t.in[i+1]; {
		case has(c, isLetter), c == '!', c == '?':
			return i
		case c == '/' && i+2 < len(t.in):
			return i
		}
	}
}

// readMarkup reads the markup that the "<" at pos opens. It returns false if that yields no token.
func (t *tokenizer) readMarkup() (tokenKind, bool) {
	switch c := t.in[t.pos+1]; {
	case c == '!':
		return t.readDeclaration()
	case c == '?':
		t.skipPast('>', t.pos+2)
		return 0, false
	case c != '/':
		return tokenStart, t.readTag(t.pos + 1)
	case has(t.in[t.pos+2], isLetter):
		return tokenClose, t.readTag(t.pos + 2)
	default: // "</>" or a bogus comment (section 13.2.5.7)
		t.skipPast('>', t.pos+2)
		return 0, false
	}
}

// skipPast moves past the next b at or after from, or to the end.
func (t *tokenizer) skipPast(b byte, from int) {
	if i := bytes.IndexByte(t.in[from:], b); i >= 0 {
		t.pos = from + i + 1
		return
	}
	t.pos = len(t.in)
}

// readDeclaration reads "<!…": a comment, a doctype, a CDATA section or what
// the standard calls a bogus comment (section 13.2.5.42).
func (t *tokenizer) readDeclaration() (tokenKind, bool) {
	const section = "<![CDATA["
	rest := t.in[t.pos:]
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		t.pos = commentEnd(t.in, t.pos+len("<!--"))
	case t.cdata && bytes.HasPrefix(rest, []byte(section)):
		t.readSection(t.pos + len(section))
		return tokenRaw, len(t.text) > 0
	default:
		t.skipPast('>', t.pos+2)
	}
	return 0, false
}

func (t *tokenizer) readSection(from int) {
	t.text, t.pos = t.in[from:], len(t.in)
	if i := bytes.Index(t.text, []byte("]]>")); i >= 0 {
		t.text, t.pos = t.text[:i], from+i+len("]]>")
	}
}

// commentEnd returns the index after the comment whose content starts at from: after the first
// "-->" or "--!>". The dashes of "<!--" count for "-->" ("<!-->" and "<!--->" are complete;
// sections 13.2.5.43 to 13.2.5.51).
func commentEnd(in []byte, from int) int {
	for i := from; i < len(in); i++ {
		j := bytes.IndexByte(in[i:], '>')
		if j < 0 {
			break
		}
		i += j
		if bytes.HasSuffix(in[from-2:i], []byte("--")) ||
			bytes.HasSuffix(in[from:i], []byte("--!")) {
			return i + 1
		}
	}
	return len(in)
}

// readTag reads the tag whose name starts at from. It returns false if the page ends inside the
// tag, which drops the tag (eof-in-tag).
func (t *tokenizer) readTag(from int) bool {
	i := until(t.in, from, endsName)
	t.name, t.nAttrs, t.seenAttrs, t.selfClosing = t.in[from:i], 0, 0, false
	for i < len(t.in) {
		// Before attribute name state, 13.2.5.32.
		switch c := t.in[i]; {
		case c == '>':
			t.pos = i + 1
			return true
		case c == '/':
			t.selfClosing = i+1 < len(t.in) && t.in[i+1] == '>'
			i++
		case has(c, isSpace):
			i++
		default:
			i = t.readAttribute(i)
		}
	}
	t.pos = len(t.in)
	return false
}

// readAttribute reads the attribute whose name starts at from and returns the index after it
// (sections 13.2.5.33 to 13.2.5.39).
func (t *tokenizer) readAttribute(from int) int {
	end := until(t.in, from+1, endsAttr) // a leading "=" is part of the name
	a := attribute{key: span{int32(from), int32(end)}}
	i := skip(t.in, end, isSpace)
	if i < len(t.in) && t.in[i] == '=' {
		a.value, i = readValue(t.in, skip(t.in, i+1, isSpace))
	}
	t.seenAttrs++
	if t.nAttrs < maxAttrs {
		t.attrs[t.nAttrs] = a
		t.nAttrs++
	}
	return i
}

// readValue reads an attribute value at i and returns it with the index after it.
func readValue(in []byte, i int) (span, int) {
	if i >= len(in) {
		return span{}, i
	}
	if q := in[i]; q == '"' || q == '\'' {
		i++
		j := bytes.IndexByte(in[i:], q)
		if j < 0 {
			return span{}, len(in)
		}
		return span{int32(i), int32(i + j)}, i + j + 1
	}
	j := until(in, i, endsValue)
	return span{int32(i), int32(j)}, j
}

// attr returns the undecoded value of the current tag's attribute with this name, which is in lower
// case. If the attribute repeats, the first one counts.
func (t *tokenizer) attr(name string) ([]byte, bool) {
	for _, a := range t.attrs[:t.nAttrs] {
		if int(a.key.to-a.key.from) == len(name) && ascii.Is(t.in[a.key.from:a.key.to], name) {
			return t.in[a.value.from:a.value.to], true
		}
	}
	return nil, false
}
