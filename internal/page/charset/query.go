package charset

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Reencodes reports whether Query differs from what it does for UTF-8.
func (e Encoding) Reencodes() bool {
	switch e {
	case Encoding{}, UTF8, UTF16BE, UTF16LE, replacement:
		return false
	}
	return true
}

// Query encodes the query of an http or https URL, without its "?" and without
// a fragment, as a browser does in a document of this encoding: "percent-encode
// after encoding" with the special-query percent-encode set (URL standard
// sections 1.3 and 4.4). A character that the encoding does not have becomes
// "%26%23", its number and "%3B". UTF-16 and replacement encode as UTF-8
// (Encoding standard section 4.3).
//
// Escapes are left as they are; so are tab, CR and LF, which the URL parser
// removes. What is not UTF-8 in q counts as U+FFFD.
func (e Encoding) Query(q string) string {
	if !needsEscape(q) {
		return q
	}
	out := make([]byte, 0, len(q)+len(q)/2)
	encode := e.encoder()
	for _, r := range q {
		b, ok := encode(r)
		out = appendQueryBytes(out, b)
		if !ok {
			out = appendUnencodable(out, replaceControl(e, r))
		}
	}
	if e == iso2022JP {
		b, _ := encode('\\') // is ASCII only, and leads back to it
		out = appendQueryBytes(out, b[:len(b)-1])
	}
	return string(out)
}

// replaceControl hides from errors the characters that ISO-2022-JP is steered by
// (section 12.2.2).
func replaceControl(e Encoding, r rune) rune {
	if e == iso2022JP && isJISControl(r) {
		return utf8.RuneError
	}
	return r
}

// Reference applies Query to the query of a link as it is written, relative or
// not.
func (e Encoding) Reference(ref string) string {
	if !e.Reencodes() || !hasQueryToEncode(ref) {
		return ref
	}
	ref, fragment := cutBefore(ref, '#')
	path, query := cutBefore(ref, '?')
	if query == "" {
		return ref + fragment
	}
	return path + "?" + e.Query(query[1:]) + fragment
}

// hasQueryToEncode tells the references apart that Query may change: weburl does
// the same for ASCII.
func hasQueryToEncode(ref string) bool {
	for i := range len(ref) {
		if ref[i] >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

func cutBefore(s string, c byte) (before, from string) {
	if i := strings.IndexByte(s, c); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

func needsEscape(q string) bool {
	for i := range len(q) {
		if inQuerySet(q[i]) {
			return true
		}
	}
	return false
}

// inQuerySet reports membership of the special-query percent-encode set, without
// what the URL parser removes.
func inQuerySet(c byte) bool {
	switch c {
	case '\t', '\n', '\r':
		return false
	case ' ', '"', '#', '<', '>', '\'':
		return true
	}
	return c < ' ' || c > '~'
}

func appendQueryBytes(out, b []byte) []byte {
	const digits = "0123456789ABCDEF"
	for _, c := range b {
		if inQuerySet(c) {
			out = append(out, '%', digits[c>>4], digits[c&15])
		} else {
			out = append(out, c)
		}
	}
	return out
}

func appendUnencodable(out []byte, r rune) []byte {
	out = strconv.AppendInt(append(out, "%26%23"...), int64(r), 10)
	return append(out, "%3B"...)
}
