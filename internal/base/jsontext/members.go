package jsontext

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Members iterates over the members of an object or the elements of a list without decoding them.
// The text should be valid JSON: Members finds the ends of values and does not validate them.
type Members struct {
	text []byte
	i    int
	bad  bool
}

// MembersOf iterates over the object or list in text. Any other value has no members, and Bad is
// true.
func MembersOf(text []byte) Members {
	i := skipSpace(text, 0)
	if i >= len(text) || text[i] != '{' && text[i] != '[' {
		return Members{bad: true}
	}
	return Members{text: text, i: i + 1}
}

// Bad reports whether the iteration ended before the end of the text.
func (m *Members) Bad() bool { return m.bad }

// Next returns the next member of an object: its name without quotes and its value, both undecoded.
// They are slices of the text.
func (m *Members) Next() (name, value []byte, ok bool) {
	if !m.more('}') {
		return nil, nil, false
	}
	if m.text[m.i] != '"' {
		return nil, nil, m.fail()
	}
	end := StringEnd(m.text, m.i)
	name = m.text[m.i+1 : end-1]
	m.i = skipSpace(m.text, end)
	if m.i >= len(m.text) || m.text[m.i] != ':' {
		return nil, nil, m.fail()
	}
	m.i = skipSpace(m.text, m.i+1)
	value, ok = m.value()
	return name, value, ok
}

// Element returns the next element of a list, undecoded.
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

// more moves to the next member, and reports whether there is one.
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

// valueEnd returns the index after the value that starts at i. It is beyond the text if the value
// is incomplete.
func valueEnd(text []byte, i int) int {
	if i >= len(text) {
		return i
	}
	switch text[i] {
	case '"':
		return StringEnd(text, i)
	case '{', '[':
		return nestedEnd(text, i)
	}
	for i < len(text) && !isDelimiter(text[i]) {
		i++
	}
	return i
}

func isDelimiter(c byte) bool { return c == ',' || c == '}' || c == ']' || c <= ' ' }

// nestedEnd returns the index after the object or list that starts at i. It counts instead of
// recursing, because the depth of a record is unbounded.
func nestedEnd(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			i = StringEnd(text, i)
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

// StringEnd returns the index after the string that starts at i. It is beyond the text if the
// string is incomplete.
func StringEnd(text []byte, i int) int {
	for i++; i < len(text); {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			break
		}
		// An even number of preceding backslashes are escaped backslashes.
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

// AppendText appends the decoded form of a JSON string without its quotes. Unpaired surrogates
// become U+FFFD, as in encoding/json.
func AppendText(b, quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return append(b, quoted...)
	}
	b, _ = jsontext.AppendUnquote(b, slices.Concat([]byte{'"'}, quoted, []byte{'"'})) // invalid parts are dropped or replaced
	return b
}
