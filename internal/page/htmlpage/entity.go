package htmlpage

import (
	"html"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"seine/internal/base/ascii"
	"seine/internal/base/truncate"
)

// maxEntity is the longest run of letters and digits looked up as a name. The
// longest name in the standard has 31 (CounterClockwiseContourIntegral).
const maxEntity = 31

// appendReference appends what the character reference at the start of b, which
// is an "&", stands for and returns how much of b that took (section 13.2.5.72).
// An "&" that opens no reference stands for itself.
//
// In an attribute a name without ";" followed by a letter, a digit or "=" is
// not a reference, so that "?a=1&copy=2" survives (section 13.2.5.73).
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

// commonReference knows the references that make up nearly all of those in real
// pages, by name and ";", and two that package html does not.
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
	case "nLt;": // these two are shorter than what they stand for, and package html leaves them
		return "\u226a\u20d2", true
	case "nGt;":
		return "\u226b\u20d2", true
	}
	return "", false
}

// appendNamed decodes the named reference b[:end], or as much of its front as
// is one ("&notit" is "¬it"). A name too long to be one may still start so; the
// package html looks at the longest front first.
func appendNamed(dst, b []byte, end int) ([]byte, int) {
	end = min(end, 1+maxEntity+1)
	return append(dst, html.UnescapeString(string(b[:end]))...), end
}

// appendNamedWhole decodes b[:end] only if the whole of it is a reference.
//
// The package html decodes as in text, where the front of a name is enough. Its
// result tells the two apart: a whole name yields one or two characters, or
// one if it lacks the ";"; a front leaves at least one letter, and the ";".
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

// appendNumeric decodes "&#123;" and "&#x7b;" (sections 13.2.5.75 to 13.2.5.80).
func appendNumeric(dst, b []byte) ([]byte, int) {
	i, base := 2, rune(10)
	if i < len(b) && ascii.Lower(b[i]) == 'x' {
		i, base = 3, 16
	}
	start, r := i, rune(0)
	for ; i < len(b); i++ {
		d, ok := digit(b[i], base)
		if !ok {
			break
		}
		r = min(r*base+d, utf8.MaxRune+1)
	}
	if i == start {
		return append(dst, '&'), 1
	}
	if i < len(b) && b[i] == ';' {
		i++
	}
	return utf8.AppendRune(dst, numericRune(r)), i
}

func digit(b byte, base rune) (rune, bool) {
	switch b = ascii.Lower(b); {
	case '0' <= b && b <= '9':
		return rune(b - '0'), true
	case base == 16 && 'a' <= b && b <= 'f':
		return rune(b-'a') + 10, true
	}
	return 0, false
}

// numericRune applies the table of section 13.2.5.80: the C1 controls mean
// windows-1252 where that has a character, and what is not a character means U+FFFD. AppendRune does the
// latter for surrogates and for values beyond Unicode.
func numericRune(r rune) rune {
	switch {
	case r == 0:
		return utf8.RuneError
	case 0x80 <= r && r <= 0x9f:
		if w := charmap.Windows1252.DecodeByte(byte(r)); w != utf8.RuneError {
			return w
		}
	}
	return r
}

// appendAttribute appends an attribute's value: references decoded, NUL
// replaced (section 13.2.5.36). It ends where dst exceeds maxValue.
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

// plainLength returns how much of an attribute's value is as it is written.
func plainLength(b []byte) int {
	for i, c := range b {
		if c == '&' || c == 0 {
			return i
		}
	}
	return len(b)
}
