package charset

import (
	"bytes"
	"strings"

	"seine/internal/base/ascii"
	"seine/internal/page/mediatype"
)

// fromHeader returns the encoding of a Content-Type header's charset parameter,
// if it is a known one. Several types in the header, by mistake or by a proxy,
// are read as in "extract a MIME type" of the Fetch standard, section 3.2.4: the
// last counts, and inherits the parameter from one of the same type before it.
func fromHeader(contentType string) Encoding {
	var charset, essence string
	for rest := contentType; rest != ""; {
		var value string
		value, rest = mediatype.CutField(rest)
		t, ok := parseMIME(value)
		if !ok || t.essence == "*/*" {
			continue
		}
		if !strings.EqualFold(t.essence, essence) {
			charset = ""
		}
		if t.charset != "" {
			charset = t.charset
		}
		essence = t.essence
	}
	if charset == "" {
		return Encoding{}
	}
	return labelled([]byte(charset))
}

// mimeType is what matters of one.
type mimeType struct{ essence, charset string }

// parseMIME parses a MIME type (MIME Sniffing standard section 4.4).
func parseMIME(s string) (t mimeType, ok bool) {
	s = strings.Trim(s, httpSpace)
	t.essence, s, _ = strings.Cut(s, ";")
	t.essence = strings.TrimRight(t.essence, httpSpace)
	kind, subtype, ok := strings.Cut(t.essence, "/")
	if !ok || !mediatype.IsToken(kind) || !mediatype.IsToken(subtype) {
		return mimeType{}, false
	}
	for s != "" && t.charset == "" {
		var name, value string
		name, value, s = cutParameter(s)
		if strings.EqualFold(name, "charset") && isQuotable(value) {
			t.charset = value
		}
	}
	return t, true
}

// cutParameter cuts "name=value" or `name="value"` and the ";" behind it.
func cutParameter(s string) (name, value, rest string) {
	s = strings.TrimLeft(s, httpSpace)
	i := strings.IndexAny(s, ";=")
	switch {
	case i < 0:
		return s, "", ""
	case s[i] == ';':
		return s[:i], "", s[i+1:]
	}
	name, s = s[:i], s[i+1:]
	if strings.HasPrefix(s, `"`) {
		value, s = mediatype.CutQuoted(s[1:])
		_, rest, _ = strings.Cut(s, ";")
		return name, value, rest
	}
	value, rest, _ = strings.Cut(s, ";")
	return name, strings.TrimRight(value, httpSpace), rest
}

// isQuotable reports whether s may stand in a quoted string at all, and is not
// empty.
func isQuotable(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return s != ""
}

// fromContent extracts the encoding from a meta element's content attribute
// (section 2.5.3). An unclosed quote means there is none.
func fromContent(b []byte) Encoding {
	const key = "charset"
	for i := 0; i+len(key) <= len(b); i++ {
		if !ascii.HasPrefix(b[i:], key) {
			continue
		}
		rest := bytes.TrimLeft(b[i+len(key):], asciiSpace)
		if len(rest) > 0 && rest[0] == '=' {
			return labelled(contentValue(bytes.TrimLeft(rest[1:], asciiSpace)))
		}
		i = len(b) - len(rest) - 1
	}
	return Encoding{}
}

func contentValue(b []byte) []byte {
	if len(b) > 0 && (b[0] == '"' || b[0] == '\'') {
		end := bytes.IndexByte(b[1:], b[0])
		if end < 0 {
			return nil
		}
		return b[1 : 1+end]
	}
	if end := bytes.IndexAny(b, asciiSpace+";"); end >= 0 {
		return b[:end]
	}
	return b
}
