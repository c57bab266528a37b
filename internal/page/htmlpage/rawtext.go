package htmlpage

import (
	"bytes"

	"seine/internal/base/ascii"
)

// rawNames are the names of elements whose content is text up to their end tag.
var rawNames = [...]string{
	elemTitle: "title", elemTextarea: "textarea", elemXMP: "xmp", elemStyle: "style", elemIframe: "iframe", elemNoEmbed: "noembed",
}

// readContent reads the content of the element just opened if that is not markup. ok is false if it
// is markup.
func (t *tokenizer) readContent(e element) (content []byte, ok bool) {
	from := t.pos
	switch {
	case e == elemScript:
		t.skipScript()
	case e == elemPlaintext:
		t.pos = len(t.in) // section 13.2.5.5
	case int(e) < len(rawNames) && rawNames[e] != "":
		return t.readRaw(rawNames[e]), true
	default:
		return nil, false
	}
	return t.in[from:t.pos], true
}

// readRaw reads the content of the element just opened as text, up to its end tag or the end of the
// page: RCDATA and RAWTEXT (sections 13.2.5.2 and 13.2.5.3). name is in lower case. The end tag is
// left for next.
func (t *tokenizer) readRaw(name string) []byte {
	end := endTag(t.in, t.pos, name)
	raw := t.in[t.pos:end]
	t.pos = end
	return raw
}

// endTag returns the index of the first end tag of that name at or after from.
func endTag(in []byte, from int, name string) int {
	for i := from; ; i++ {
		j := bytes.IndexByte(in[i:], '<')
		if j < 0 {
			return len(in)
		}
		i += j
		if opens(in[i+1:], "/", name) {
			return i
		}
	}
}

// opens reports whether b starts with prefix and a whole tag name.
func opens(b []byte, prefix, name string) bool {
	n := len(prefix) + len(name)
	return len(b) > n && string(b[:len(prefix)]) == prefix &&
		ascii.HasPrefix(b[len(prefix):], name) && has(b[n], endsName)
}

// skipScript moves to the end tag of the script just opened. A script may hide an end tag by "<!--"
// and then "<script": the script data escaped and double escaped states (sections 13.2.5.15 to
// 13.2.5.31), which also determine where such a script ends.
func (t *tokenizer) skipScript() {
	const name = "script"
	escaped, double := false, false
	for i := t.pos; i < len(t.in); i++ {
		i = nextAngle(t.in, i, escaped)
		if i == len(t.in) {
			break
		}
		rest := t.in[i+1:]
		switch {
		case t.in[i] == '>':
			if bytes.HasSuffix(t.in[:i], []byte("--")) {
				escaped, double = false, false
			}
		case !double && opens(rest, "/", name):
			t.pos = i
			return
		case !escaped && bytes.HasPrefix(rest, []byte("!--")):
			escaped = true
			i += len("!--")
		case escaped && opens(rest, "", name):
			double = true
		case double && opens(rest, "/", name):
			double = false
		}
	}
	t.pos = len(t.in)
}

// nextAngle returns the index of the next "<", or of the next "<" or ">" if both is set, or the
// end.
func nextAngle(in []byte, from int, both bool) int {
	if !both {
		if i := bytes.IndexByte(in[from:], '<'); i >= 0 {
			return from + i
		}
		return len(in)
	}
	for i := from; i < len(in); i++ {
		if in[i] == '<' || in[i] == '>' {
			return i
		}
	}
	return len(in)
}
