package weburl

import (
	"unicode/utf8"

	"seine/internal/base/ascii"
)

// byteClass says what to do with a byte of a path or query.
type byteClass uint8

const (
	doubtful  byteClass = iota // leave the URL to the slow path
	verbatim                   // copy
	encode                     // percent-encode
	escape                     // "%": normalise the escape
	multibyte                  // percent-encode if valid UTF-8
	stop                       // ends the component
)

// pathBytes classifies by the path percent-encode set of the URL standard,
// section 1.3. A backslash means a slash there and is left to the slow path.
var pathBytes = classify("\"#<>?`{}^", "/?", `\`)

// parsedPathBytes classifies the bytes of a path that the parser has encoded.
var parsedPathBytes = classify("\"#<>?`{}^", "", "")

// queryBytes classifies by the special-query percent-encode set.
var queryBytes = classify(`"#<>'`, "", "")

// classify builds the table of a percent-encode set. Control characters are
// doubtful: the parser removes some and encodes others.
func classify(encoded, stops, doubts string) (table [256]byteClass) {
	for c := 0x21; c < 0x7f; c++ {
		table[c] = verbatim
	}
	for c := utf8.RuneSelf; c < len(table); c++ {
		table[c] = multibyte
	}
	table['%'], table[' '], table[0x7f] = escape, encode, encode
	for class, chars := range map[byteClass]string{encode: encoded, doubtful: doubts} {
		for i := range len(chars) {
			table[chars[i]] = class
		}
	}
	for i := range len(stops) {
		table[stops[i]] = stop
	}
	return table
}

// appendEncoded appends text up to a stop, encoded and normalised, and returns
// what is left of it. It declines invalid UTF-8.
func appendEncoded(out []byte, text string, class *[256]byteClass) (_ []byte, rest string, ok bool) {
	for {
		n := 0
		for n < len(text) && class[text[n]] == verbatim {
			n++
		}
		out, text = append(out, text[:n]...), text[n:]
		if text == "" {
			return out, text, true
		}
		size := 1
		switch class[text[0]] {
		case stop:
			return out, text, true
		case encode:
			out = ascii.AppendEscape(out, text[0])
		case escape:
			out, size = appendNormalEscape(out, text)
		case multibyte:
			out, size = appendRune(out, text)
		default:
			size = 0
		}
		if size == 0 {
			return out, text, false
		}
		text = text[size:]
	}
}

// appendNormalEscape appends the escape that text starts with, or the percent sign
// if it is a stray one, and returns its size.
func appendNormalEscape(out []byte, text string) (_ []byte, size int) {
	c, ok := ascii.Unescape(text)
	switch {
	case !ok:
		return append(out, '%'), 1
	case isUnreserved(c) && !completesEscape(out, c):
		return append(out, c), 3
	}
	return ascii.AppendEscape(out, c), 3
}

// appendRune percent-encodes the character that text starts with and returns
// its size, or 0 where it is not UTF-8.
func appendRune(out []byte, text string) (_ []byte, size int) {
	r, size := utf8.DecodeRuneInString(text)
	if r == utf8.RuneError && size <= 1 {
		return out, 0
	}
	for i := range size {
		out = ascii.AppendEscape(out, text[i])
	}
	return out, size
}

// completesEscape reports whether c, appended to out, could make an escape of a
// stray percent sign: decoding the "2" in "%%32E" would turn three characters
// into a dot on the next pass. Such a "2" stays encoded.
func completesEscape(out []byte, c byte) bool {
	n := len(out)
	switch {
	case !isHex(c) || n == 0:
		return false
	case out[n-1] == '%':
		return true
	}
	return n > 1 && out[n-2] == '%' && isHex(out[n-1])
}

// isUnreserved reports membership of RFC 3986 section 2.3.
func isUnreserved(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '-' || c == '.' || c == '_' || c == '~'
}

func isHex(c byte) bool {
	_, ok := ascii.Unhex(c)
	return ok
}
