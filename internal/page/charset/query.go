package charset

import (
	"strconv"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	"seine/internal/base/ascii"
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
	q = strings.ToValidUTF8(q, "\ufffd")
	out := make([]byte, 0, len(q)+len(q)/2)
	if !e.Reencodes() {
		for i := range len(q) {
			out = appendQueryByte(out, q[i])
		}
		return string(out)
	}
	for i, part := range strings.Split(q, "&") { // in which "&" begins a character that the encoding does not have
		if i > 0 {
			out = append(out, '&')
		}
		out = e.appendEncoded(out, part)
	}
	return string(out)
}

// appendEncoded appends a part of a query without "&".
func (e Encoding) appendEncoded(out []byte, part string) []byte {
	m, _ := e.library().(*charmap.Charmap)
	encoded, _ := encoding.HTMLEscapeUnsupported(e.library().NewEncoder()).String(part)
	for i := 0; i < len(encoded); i++ {
		if encoded[i] != '&' {
			out = appendQueryByte(out, encoded[i])
			continue
		}
		digits, _, _ := strings.Cut(encoded[i+len("&#"):], ";")
		i += len("&#") + len(digits)
		if r, _ := strconv.Atoi(digits); m != nil && r < 0xa0 && decodeByte(m, byte(r)) == rune(r) { // see decodeByte
			out = ascii.AppendEscape(out, byte(r))
		} else {
			out = append(out, "%26%23"+digits+"%3B"...)
		}
	}
	return out
}

// Reference applies Query to the query of a link as it is written, relative or
// not.
func (e Encoding) Reference(ref string) string {
	if !e.Reencodes() || isASCII([]byte(ref)) { // weburl does the same for ASCII
		return ref
	}
	ref, fragment := cutBefore(ref, '#')
	path, query := cutBefore(ref, '?')
	if query == "" {
		return ref + fragment
	}
	return path + "?" + e.Query(query[1:]) + fragment
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

func appendQueryByte(out []byte, c byte) []byte {
	if inQuerySet(c) {
		return ascii.AppendEscape(out, c)
	}
	return append(out, c)
}
