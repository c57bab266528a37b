package htmlpage

import (
	"bytes"
	"html"
	"unicode/utf8"

	"seine/internal/base/ascii"
	"seine/internal/base/truncate"
)

// maxEntity is the longest run of letters and digits looked up as a name. The longest name in the
// standard has 31 (CounterClockwiseContourIntegral).
const maxEntity = 31

// appendReference appends the expansion of the character reference at the start of b, which is an
// "&", and returns the length of the reference (section 13.2.5.72). An "&" that begins no reference
// stands for itself.
//
// In an attribute, a name without ";" followed by a letter, a digit or "=" is not a reference, so
// that "?a=1&copy=2" survives (section 13.2.5.73).
func appendReference(dst, b []byte, inAttribute bool) ([]byte, int) {
	if len(b) > 1 && b[1] == '#' {
		return appendNumeric(dst, b)
	}
	end := skip(b, 1, isLetter|isDigit)
	if end == 1 {
		return append(dst, '&'), 1
	}
	closed := end < len(b) && b[end] == ';'
	if closed {
		end++
	}
	if s, ok := commonReference(b[1:end]); ok {
		return append(dst, s...), end
	}
	if inAttribute {
		return appendNamedWhole(dst, b, end, closed)
	}
	return appendNamed(dst, b, end)
}

// commonReference expands the references that make up nearly all of those in real pages, by name
// and ";", and two that package html does not expand.
func commonReference(name []byte) (string, bool) {
	switch string(name) {
	case "amp;":
		return "&", true
	case "lt;":
		return "<", true
	case "gt;":
		return ">", true
	case "quot;":
		return `"`, true
	case "nbsp;":
		return "\u00a0", true
	case "nLt;": // the expansions of these two are longer than the references, and package html leaves them
		return "\u226a\u20d2", true
	case "nGt;":
		return "\u226b\u20d2", true
	}
	return "", false
}

// appendNamed decodes the named reference b[:end], or a prefix of it that is one ("&notit" is
// "¬it"). A name that is too long may still begin with one; package html tries the longest prefix
// first.
func appendNamed(dst, b []byte, end int) ([]byte, int) {
	end = min(end, 1+maxEntity+1)
	return append(dst, html.UnescapeString(string(b[:end]))...), end
}

// appendNamedWhole decodes b[:end] only if all of it is a reference.
//
// Package html decodes as in text, where a prefix of a name is enough. Its result distinguishes the
// cases: a complete name yields one or two characters, or one if it lacks the ";". A prefix leaves
// at least one letter, and the ";".
func appendNamedWhole(dst, b []byte, end int, closed bool) ([]byte, int) {
	assigned := end < len(b) && b[end] == '='
	if end > 1+maxEntity+1 || !closed && assigned {
		return append(dst, b[:end]...), end
	}
	longest := 1
	if closed {
		longest = 2
	}
	s := html.UnescapeString(string(b[:end]))
	if utf8.RuneCountInString(s) > longest {
		return append(dst, b[:end]...), end
	}
	return append(dst, s...), end
}

// appendNumeric decodes "&#123;" and "&#x7b;" (sections 13.2.5.75 to 13.2.5.80). Package html does
// not detect numbers beyond Unicode that have many digits.
func appendNumeric(dst, b []byte) ([]byte, int) {
	const most = len("1114111")
	start, end := 2, skip(b, 2, isDigit)
	if len(b) > 2 && ascii.Lower(b[2]) == 'x' {
		start, end = 3, skip(b, 3, isHex)
	}
	if start == end {
		return append(dst, '&'), 1
	}
	text := html.UnescapeString(string(b[:end]) + ";")
	if len(bytes.TrimLeft(b[start:end], "0")) > most {
		text = "\ufffd"
	}
	if end < len(b) && b[end] == ';' {
		end++
	}
	return append(dst, text...), end
}

// appendAttribute appends an attribute's value with its references decoded and NUL replaced
// (section 13.2.5.36). It stops when dst exceeds maxValue.
func appendAttribute(dst, value []byte) []byte {
	for len(value) > 0 && len(dst) <= maxValue {
		i := plainLength(value)
		if len(dst)+i > maxValue {
			return append(dst, truncate.To(value[:i], maxValue-len(dst))...)
		}
		dst = append(dst, value[:i]...)
		if value = value[i:]; len(value) == 0 {
			break
		}
		n := 1
		if value[0] == '&' {
			dst, n = appendReference(dst, value, true)
		} else {
			dst = append(dst, "\ufffd"...)
		}
		value = value[n:]
	}
	return dst
}

// plainLength returns the length of the prefix of an attribute's value that needs no decoding.
func plainLength(b []byte) int {
	for i, c := range b {
		if c == '&' || c == 0 {
			return i
		}
	}
	return len(b)
}
