package xmlstream

import (
	"bytes"
	"html"
	"unicode/utf8"

	"seine/internal/base/lazyregexp"
)

// text returns the characters of a text as written: CDATA is unchanged, and references of XML and
// HTML are replaced.
func (d *Decoder) text(raw []byte) []byte {
	inner, isData := bytes.CutPrefix(raw, []byte("<![CDATA["))
	if isData {
		return d.clean(bytes.TrimSuffix(inner, []byte("]]>")))
	}
	return d.clean(d.unescape(raw))
}

// reference matches a reference of XML or HTML. It must end in a semicolon, as in XML: in HTML, the
// "&copy" of "?a=1&copy=2" would be a character. The longest name is
// CounterClockwiseContourIntegral.
var reference = lazyregexp.New(`&#?[0-9A-Za-z]{1,31};|&`)

// unescape replaces references, and counts invalid ones.
func (d *Decoder) unescape(raw []byte) []byte {
	if bytes.IndexByte(raw, '&') < 0 {
		return raw
	}
	return reference().ReplaceAllFunc(raw, func(ref []byte) []byte {
		text := html.UnescapeString(string(ref))
		if text == string(ref) {
			d.repairs++
		}
		return []byte(text)
	})
}

// clean drops the control characters that XML does not allow (XML 1.0 section 2.2), replaces those
// that separate words by a space, and counts these and invalid bytes. It returns text without any
// of them unchanged.
func (d *Decoder) clean(text []byte) []byte {
	if isClean(text) {
		return text
	}
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == '\v' || r == '\f':
			d.repairs++
			out = append(out, ' ')
		case r < ' ' && !isSpace(byte(r)), r == 0xfffe, r == 0xffff:
			d.repairs++
		case r == utf8.RuneError && size == 1:
			d.repairs++
			out = append(out, text[0])
		default:
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	return out
}

func isClean(text []byte) bool {
	for i, c := range text {
		if c < ' ' && !isSpace(c) || c == 0xef && isNoncharacter(text[i:]) {
			return false
		}
	}
	return utf8.Valid(text)
}

func isSpace(c byte) bool { return c == '\t' || c == '\n' || c == '\r' }

// isNoncharacter reports whether b begins with U+FFFE or U+FFFF.
func isNoncharacter(b []byte) bool {
	return len(b) > 2 && b[1] == 0xbf && (b[2] == 0xbe || b[2] == 0xbf)
}
