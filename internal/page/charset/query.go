package charset

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/transform"

	"seine/internal/base/ascii"
)

// Reencodes reports whether Query has a different result than for UTF-8.
func (e Encoding) Reencodes() bool {
	switch e {
	case Encoding{}, UTF8, UTF16BE, UTF16LE, replacement:
		return false
	}
	return true
}

// Query encodes the query of an http or https URL, without its "?" and fragment, as a browser does
// in a document of this encoding: "percent-encode after encoding" with the special-query
// percent-encode set (URL standard sections 1.3 and 4.4). A character that the encoding lacks
// becomes "%26%23", its number and "%3B". UTF-16 and replacement encode as UTF-8 (Encoding standard
// section 4.3).
//
// Escapes stay unchanged, as do tab, CR and LF, which the URL parser removes. Invalid UTF-8 in q
// counts as U+FFFD.
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
	return string(e.appendQuery(out, q))
}

// appendQuery appends a query in this encoding.
func (e Encoding) appendQuery(out []byte, query string) []byte {
	m, _ := e.library().(*charmap.Charmap)
	encoder, q, from := &queryEncoder{Encoder: e.library().NewEncoder()}, []byte(query), 0
	for i, r := range query {
		n := utf8.RuneLen(r)
		if r < utf8.RuneSelf || encoder.canEncode(q[i:i+n]) {
			continue
		}
		out = encoder.appendText(out, q[from:i])
		from = i + n
		if m != nil && r < 0xa0 && decodeByte(m, byte(r)) == r { // see decodeByte
			out = ascii.AppendEscape(out, byte(r))
		} else {
			out = append(strconv.AppendInt(append(out, "%26%23"...), int64(r), 10), "%3B"...)
		}
	}
	return encoder.appendText(out, q[from:])
}

// queryEncoder encodes parts of a query, each from the initial state of the encoding.
type queryEncoder struct {
	*encoding.Encoder
	buf [256]byte
}

// canEncode reports whether the encoding has a character.
func (e *queryEncoder) canEncode(r []byte) bool {
	e.Reset()
	_, _, err := e.Transform(e.buf[:], r, true)
	return err == nil
}

// appendText appends a text whose characters are all in the encoding.
func (e *queryEncoder) appendText(out, text []byte) []byte {
	e.Reset()
	for {
		n, read, err := e.Transform(e.buf[:], text, true)
		for _, c := range e.buf[:n] {
			out = appendQueryByte(out, c)
		}
		if text = text[read:]; !errors.Is(err, transform.ErrShortDst) {
			return out
		}
	}
}

// Reference applies Query to the query of a link as written, absolute or relative.
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

// inQuerySet reports whether a byte is in the special-query percent-encode set, except those that
// the URL parser removes.
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
