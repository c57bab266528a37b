package postgres

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"

	"seine/internal/base/jsontext"
)

// Bounds of what is kept as the JSON that it is. PostgreSQL refuses text that is
// nested some thousand levels deep, and numbers of more than some thousand digits;
// these are far below.
const (
	maxDepth  = 500
	maxNumber = 300 // characters of a number
	maxPower  = 3   // digits of its exponent
)

// storable returns JSON that jsonb can hold, and nil for none. Half a surrogate pair
// and U+0000, which jsonb knows not, are U+FFFD; so are bytes that are not UTF-8. A
// record that is too deep, or has a number that is too long, is kept as a JSON
// string of its text.
func storable(data []byte) []byte {
	if data == nil {
		return nil
	}
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	if !isModest(data) {
		return mend(jsontext.AppendString(nil, string(data)))
	}
	return mend(data)
}

// isModest reports whether depth and numbers are within their bounds.
func isModest(data []byte) bool {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			i = stringEnd(data, i)
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return false
			}
		case c == '}' || c == ']':
			depth--
		case c == '-' || '0' <= c && c <= '9':
			end := i + 1
			for end < len(data) && bytes.IndexByte([]byte("0123456789.eE+-"), data[end]) >= 0 {
				end++
			}
			if !isShort(data[i:end]) {
				return false
			}
			i = end - 1
		}
	}
	return true
}

// isShort reports whether PostgreSQL has a number.
func isShort(number []byte) bool {
	e := bytes.IndexAny(number, "eE")
	if e < 0 {
		return len(number) <= maxNumber
	}
	power := bytes.TrimLeft(number[e+1:], "+-0")
	return e <= maxNumber && len(power) <= maxPower
}

// stringEnd returns where the string that begins at i ends.
func stringEnd(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return i
}

// mend replaces the escapes in strings that jsonb refuses.
func mend(data []byte) []byte {
	if !bytes.Contains(data, []byte(`\u`)) {
		return data
	}
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		switch {
		case data[i] != '\\' || i+1 == len(data):
			out = append(out, data[i])
			i++
		case data[i+1] != 'u':
			out = append(out, data[i], data[i+1])
			i += 2
		default:
			n := escapeLength(data[i:])
			if n == 0 {
				out = append(out, `\ufffd`...)
				n = 6
			} else {
				out = append(out, data[i:i+n]...)
			}
			i = min(i+n, len(data))
		}
	}
	return out
}

// escapeLength returns how long the escape is that data begins with, one surrogate or
// two, or 0 if jsonb refuses it.
func escapeLength(data []byte) int {
	first := unit(data)
	switch {
	case first == 0:
		return 0
	case !utf16.IsSurrogate(first):
		return 6
	case len(data) > 6 && utf16.DecodeRune(first, unit(data[6:])) != utf8.RuneError:
		return 12
	}
	return 0
}

// unit returns the value of an escape of the form \uXXXX, 0 if data begins with none.
func unit(data []byte) rune {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return 0
	}
	var v rune
	for _, c := range data[2:6] {
		switch {
		case '0' <= c && c <= '9':
			v = v<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			v = v<<4 | rune(c|0x20-'a'+10)
		default:
			return 0
		}
	}
	return v
}
