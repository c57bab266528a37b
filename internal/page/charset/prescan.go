package charset

import (
	"bytes"

	"seine/internal/base/ascii"
)

// prescan looks for a declaration in the front of an HTML page: "prescan a byte
// stream to determine its encoding", section 13.2.3.2. The standard's algorithm
// takes what is in a script or a title for markup; with skipRaw it is skipped,
// for a search that goes beyond the 1,024 bytes of the standard.
func prescan(b []byte, skipRaw bool) Encoding {
	if e := utf16XML(b, "<?x"); e != (Encoding{}) {
		return e
	}
	p := prescanner{in: b}
	for p.find('<') {
		rest := p.in[p.pos:]
		switch {
		case bytes.HasPrefix(rest, []byte("<!--")):
			p.skipComment()
		case ascii.HasPrefix(rest, "<meta") && len(rest) > 5 && (isSpace(rest[5]) || rest[5] == '/'):
			p.pos += len("<meta")
			if e := p.readMeta(); e != (Encoding{}) {
				return e
			}
		case isTag(rest):
			p.skipTag()
			if skipRaw {
				p.skipRaw(rest)
			}
		case len(rest) > 1 && bytes.IndexByte([]byte("!/?"), rest[1]) >= 0:
			if !p.find('>') {
				return bogoXML(b)
			}
		default:
			p.pos++
		}
	}
	return bogoXML(b)
}

func isTag(b []byte) bool {
	if len(b) > 1 && b[1] == '/' {
		b = b[1:]
	}
	return len(b) > 1 && isLetter(b[1])
}

// prescanner is a position in the page. When it is at the end, the page has no
// declaration, whatever was being read: no result is given then.
type prescanner struct {
	in  []byte
	pos int
}

func (p *prescanner) done() bool { return p.pos >= len(p.in) }

// find moves to the next c at or after the position, or to the end.
func (p *prescanner) find(c byte) bool {
	i := -1
	if !p.done() {
		i = bytes.IndexByte(p.in[p.pos:], c)
	}
	if i < 0 {
		p.pos = len(p.in)
		return false
	}
	p.pos += i
	return true
}

// skipComment moves to the end of a comment, whose dashes may be those of its
// start.
func (p *prescanner) skipComment() {
	i := bytes.Index(p.in[p.pos+2:], []byte("-->"))
	if i < 0 {
		p.pos = len(p.in)
		return
	}
	p.pos += 2 + i + len("-->") - 1
}

func (p *prescanner) skipTag() {
	for !p.done() && !isSpace(p.in[p.pos]) && p.in[p.pos] != '>' {
		p.pos++
	}
	for {
		if a := p.attribute(); a.name == nil {
			return
		}
	}
}

// rawElements are those whose content is no markup (section 13.2.6.4).
var rawElements = []string{"script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes"}

// skipRaw skips the content of the element whose start tag was just read.
func (p *prescanner) skipRaw(tag []byte) {
	for _, name := range rawElements {
		n := 1 + len(name)
		if !ascii.HasPrefix(tag[1:], name) || len(tag) > n && isLetter(tag[n]) {
			continue
		}
		for p.find('<') {
			if rest := p.in[p.pos+1:]; len(rest) > 0 && rest[0] == '/' && ascii.HasPrefix(rest[1:], name) {
				return
			}
			p.pos++
		}
	}
}

// readMeta reads the attributes of a meta element and returns the encoding it
// declares, if it does.
func (p *prescanner) readMeta() Encoding {
	var (
		e                      Encoding
		known, bad             bool // charset has been met; it was no label
		gotPragma, needsPragma bool
		seen                   metaNames
	)
	for {
		a := p.attribute()
		if p.done() {
			return Encoding{} // the page ends in the tag
		}
		if a.name == nil {
			break
		}
		if seen.again(a.name) {
			continue
		}
		switch {
		case ascii.Is(a.name, "http-equiv"):
			gotPragma = ascii.Is(a.value, "content-type")
		case ascii.Is(a.name, "content"):
			if c := fromContent(a.value); c != (Encoding{}) && !known {
				e, known, needsPragma = c, true, true
			}
		case ascii.Is(a.name, "charset"):
			e, known, needsPragma = labelled(a.value), true, false
			bad = e == Encoding{}
		}
	}
	if !known || bad || needsPragma && !gotPragma {
		return Encoding{}
	}
	return e.declared()
}

// metaNames remembers which of the attributes that matter have been read: the
// first of a name counts.
type metaNames struct{ equiv, content, charset bool }

func (m *metaNames) again(name []byte) (again bool) {
	switch {
	case ascii.Is(name, "http-equiv"):
		again, m.equiv = m.equiv, true
	case ascii.Is(name, "content"):
		again, m.content = m.content, true
	case ascii.Is(name, "charset"):
		again, m.charset = m.charset, true
	}
	return again
}

// attr is an attribute in the case of the page; its name is nil when there is
// none left.
type attr struct{ name, value []byte }

// attribute reads the next attribute: "get an attribute". Behind the last it
// stays at the ">".
func (p *prescanner) attribute() attr {
	for !p.done() && (isSpace(p.in[p.pos]) || p.in[p.pos] == '/') {
		p.pos++
	}
	if p.done() || p.in[p.pos] == '>' {
		return attr{}
	}
	start := p.pos
	for !p.done() && !p.endsName(start) {
		p.pos++
	}
	a := attr{name: p.in[start:p.pos]}
	p.skipSpace()
	if p.done() || p.in[p.pos] != '=' {
		return a
	}
	p.pos++
	p.skipSpace()
	a.value = p.value()
	return a
}

// endsName reports whether the name that starts at start ends here. A "=" there
// is part of it.
func (p *prescanner) endsName(start int) bool {
	c := p.in[p.pos]
	return isSpace(c) || c == '/' || c == '>' || c == '=' && p.pos > start
}

func (p *prescanner) skipSpace() {
	for !p.done() && isSpace(p.in[p.pos]) {
		p.pos++
	}
}

func (p *prescanner) value() []byte {
	if p.done() {
		return nil
	}
	if quote := p.in[p.pos]; quote == '"' || quote == '\'' {
		p.pos++
		start := p.pos
		if !p.find(quote) {
			return nil
		}
		p.pos++
		return p.in[start : p.pos-1]
	}
	start := p.pos
	for !p.done() && !isSpace(p.in[p.pos]) && p.in[p.pos] != '>' {
		p.pos++
	}
	return p.in[start:p.pos]
}
