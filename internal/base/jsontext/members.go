package jsontext

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Members reads the members of an object, or the elements of a list, one after
// the other, without decoding any. It is for text that is known to be JSON: it
// finds where values end, and not all that is wrong with them.
type Members struct {
	text []byte
	i    int
	bad  bool
}

// MembersOf begins with the object or the list that text is. Of anything else
// there are none, and Bad says so.
func MembersOf(text []byte) Members {
	i := skipSpace(text, 0)
	if i >= len(text) || text[i] != '{' && text[i] != '[' {
		return Members{bad: true}
	}
	return Members{text: text, i: i + 1}
}

// Bad reports whether the reading ended before the end of the text.
func (m *Members) Bad() bool { return m.bad }

// Next returns the next member of an object: its name, as it is written between
// its quotes, and its value, as it is written. Both are parts of the text.
func (m *Members) Next() (name, value []byte, ok bool) {
	if !m.more('}') {
		return nil, nil, false
	}
	if m.text[m.i] != '"' {
		return nil, nil, m.fail()
	}
	end := stringEnd(m.text, m.i)
	name = m.text[m.i+1 : end-1]
	m.i = skipSpace(m.text, end)
	if m.i >= len(m.text) || m.text[m.i] != ':' {
		return nil, nil, m.fail()
	}
	m.i = skipSpace(m.text, m.i+1)
	value, ok = m.value()
	return name, value, ok
}

// Element returns the next element of a list, as it is written.
func (m *Members) Element() (value []byte, ok bool) {
	if !m.more(']') {
		return nil, false
	}
	return m.value()
}

func (m *Members) fail() bool {
	m.text, m.bad = nil, true
	return false
}

// more moves to what is next, unless that is the end.
func (m *Members) more(end byte) bool {
	m.i = skipSpace(m.text, m.i)
	if m.i < len(m.text) && m.text[m.i] == ',' {
		m.i = skipSpace(m.text, m.i+1)
	}
	switch {
	case m.i >= len(m.text):
		return m.fail()
	case m.text[m.i] == end:
		m.bad = skipSpace(m.text, m.i+1) < len(m.text)
		m.text = nil
		return false
	}
	return true
}

func (m *Members) value() ([]byte, bool) {
	end := valueEnd(m.text, m.i)
	if end <= m.i || end > len(m.text) {
		return nil, m.fail()
	}
	value := m.text[m.i:end]
	m.i = end
	return value, true
}

// valueEnd returns the index behind the value that starts at i, one that is not
// in the text if it does not end there.
func valueEnd(text []byte, i int) int {
	if i >= len(text) {
		return i
	}
	switch text[i] {
	case '"':
		return stringEnd(text, i)
	case '{', '[':
		return nestedEnd(text, i)
	}
	for i < len(text) && !isDelimiter(text[i]) {
		i++
	}
	return i
}

func isDelimiter(c byte) bool { return c == ',' || c == '}' || c == ']' || c <= ' ' }

// nestedEnd returns the index behind the object or list that starts at i. It
// counts, and does not call itself: nobody bounds how deep a record is.
func nestedEnd(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			i = stringEnd(text, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		i++
		if depth == 0 {
			return i
		}
	}
	return len(text) + 1
}

// stringEnd returns the index behind the string that starts at i, one that is not
// in the text if it does not end there.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			break
		}
		// An even number of backslashes before it are pairs.
		end, from := i+n, i
		for end > from && text[end-1] == '\\' {
			end--
		}
		if (i+n-end)%2 == 0 {
			return i + n + 1
		}
		i += n + 1
	}
	return len(text) + 1
}

// AppendText appends what the string written in quoted, without its quotes, says.
// What is no text, half of a pair of surrogates, becomes U+FFFD as in
// encoding/json.
func AppendText(b, quoted []byte) []byte {
	for {
		n := bytes.IndexByte(quoted, '\\')
		if n < 0 || n+1 >= len(quoted) {
			return append(b, quoted...)
		}
		b = append(b, quoted[:n]...)
		b, quoted = appendEscape(b, quoted[n+1:])
	}
}

// appendEscape appends what follows a backslash, and returns the rest.
func appendEscape(b, rest []byte) (out, after []byte) {
	c := rest[0]
	switch c {
	case 'n':
		c = '\n'
	case 't':
		c = '\t'
	case 'r':
		c = '\r'
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'u':
		r, n := escapedRune(rest)
		return utf8.AppendRune(b, r), rest[n:]
	}
	return append(b, c), rest[1:]
}

// escapedRune reads "u" and four digits, and where they are half of a pair of
// surrogates the other half too.
func escapedRune(s []byte) (r rune, n int) {
	r, ok := hex4(s)
	if !ok {
		return utf8.RuneError, 1
	}
	if !utf16.IsSurrogate(r) {
		return r, 5
	}
	if len(s) > 5 && s[5] == '\\' {
		low, ok := hex4(s[6:])
		if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
			return pair, 11
		}
	}
	return utf8.RuneError, 5
}

func hex4(s []byte) (r rune, ok bool) {
	if len(s) < 5 || s[0] != 'u' {
		return 0, false
	}
	for _, c := range s[1:5] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
