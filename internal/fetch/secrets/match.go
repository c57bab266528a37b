package secrets

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// value is the value of a secret.
type value string

// begun marks the bytes that begin another encoding of a character: '+' is a space in a form.
var begun = [256]bool{'%': true, '&': true, '\\': true, '+': true}

const (
	// maxNested is the maximum depth of percent-encoding: a URL within the query of a URL is
	// encoded twice.
	maxNested = 4
	// maxBackslashes is the maximum number of backslashes at the start of a JSON escape: JSON
	// within JSON doubles them.
	maxBackslashes = 8
	// maxReference is the length of the longest HTML character reference.
	maxReference = len("&#x00010FFFF;")
)

// match returns the end of v if v begins at b[i], else 0. Each character may be plain,
// percent-encoded, an HTML character reference or a JSON escape, whether it needs that or not. cut
// reports that b ends before this is decided.
func (v value) match(b []byte, i int) (end int, cut bool) {
	for v != "" && i < len(b) && b[i] == v[0] && !begun[b[i]] { // there is no other way to read it
		v, i = v[1:], i+1
	}
	switch {
	case v == "":
		return i, false
	case i == len(b):
		return 0, true
	case !begun[b[i]]:
		return 0, false
	}
	return v.matchEscaped(b, i)
}

// matchEscaped is match for a b[i] that may begin another encoding of a character.
func (v value) matchEscaped(b []byte, i int) (end int, cut bool) {
	follow := func(size, next int) bool {
		e, c := v[size:].match(b, next)
		end, cut = max(end, e), cut || c
		return e > 0
	}
	c := b[i]
	if v.is(c) && follow(1, i+1) {
		return end, false
	}
	var short bool
	switch c {
	case '%':
		short = v.percent(b, i, follow)
	case '&':
		short = v.reference(b, i, follow)
	case '\\':
		short = v.backslash(b, i, follow)
	}
	return end, end == 0 && (cut || short)
}

// percent follows the percent-encodings of the first byte of v at i.
func (v value) percent(b []byte, i int, follow func(size, next int) bool) (short bool) {
	for range maxNested {
		if i+3 > len(b) {
			return true
		}
		c, ok := hexValue(b[i+1 : i+3])
		if !ok {
			return false
		}
		if v.is(byte(c)) && follow(1, i+3) {
			return false
		}
		if c != '%' {
			return false
		}
		i += 2 // "%25" is the sign that begins the next escape
	}
	return false
}

// names are the named character references that programs use to escape HTML.
var names = map[string]rune{"amp": '&', "lt": '<', "gt": '>', "quot": '"', "apos": '\''}

// reference follows an HTML character reference, numeric or named.
func (v value) reference(b []byte, i int, follow func(size, next int) bool) (short bool) {
	end, most := i+1, i+maxReference
	for end < min(most, len(b)) && (b[end] == '#' || isAlphanumeric(b[end])) {
		end++
	}
	if end == i+1 && end < len(b) || end == most {
		return false
	}
	if end == len(b) {
		return true
	}
	r, ok := referenced(string(b[i+1 : end]))
	size := v.begins(r)
	if !ok || size == 0 {
		return false
	}
	if b[end] == ';' {
		end++
	}
	follow(size, end)
	return false
}

// referenced returns the character for the text between "&" and ";".
func referenced(text string) (rune, bool) {
	number, ok := strings.CutPrefix(text, "#")
	if !ok {
		r, ok := names[text]
		return r, ok
	}
	if number != "" && number[0]|0x20 == 'x' {
		return hexValue([]byte(number[1:]))
	}
	return parseRune(number, 10)
}

// backslash follows an escape of JSON or JavaScript.
func (v value) backslash(b []byte, i int, follow func(size, next int) bool) (short bool) {
	start := i
	for i < len(b) && b[i] == '\\' && i < start+maxBackslashes {
		i++
	}
	if v[0] == '\\' && i > start+1 && follow(1, i) {
		return false
	}
	if i == len(b) {
		return true
	}
	switch b[i] {
	case 'u', 'x':
		return v.unicode(b, i, follow)
	case v[0]:
		follow(1, i+1)
	}
	return false
}

// unicode follows the rest of "\u0026" or "\x26", or of two for a character beyond 16 bits.
func (v value) unicode(b []byte, i int, follow func(size, next int) bool) (short bool) {
	digits := 4
	if b[i] == 'x' {
		digits = 2
	}
	end := i + 1 + digits
	if end > len(b) {
		return true
	}
	r, ok := hexValue(b[i+1 : end])
	if ok && utf16.IsSurrogate(r) {
		again := end + 2 + digits // after another "\u"
		if again > len(b) {
			return true
		}
		low, _ := hexValue(b[end+2 : again])
		r, end = utf16.DecodeRune(r, low), again
	}
	if size := v.begins(r); ok && size > 0 {
		follow(size, end)
	}
	return false
}

// is reports whether c is the first byte of v: in a form, '+' is a space.
func (v value) is(c byte) bool { return c == v[0] || c == '+' && v[0] == ' ' }

// begins returns the size of r if v begins with it, otherwise 0.
func (v value) begins(r rune) int {
	if r < utf8.RuneSelf && v.is(byte(r)) {
		return 1
	}
	first, size := utf8.DecodeRuneInString(string(v))
	if first != r || first == utf8.RuneError && size == 1 {
		return 0
	}
	return size
}

// hexValue parses hexadecimal digits.
func hexValue(digits []byte) (r rune, ok bool) { return parseRune(string(digits), 16) }

func parseRune(digits string, base int) (r rune, ok bool) {
	n, err := strconv.ParseUint(digits, base, 31)
	return rune(n), err == nil
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
