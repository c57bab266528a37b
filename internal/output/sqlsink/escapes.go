package sqlsink

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// MendEscapes replaces the escapes in strings that databases refuse, or end a text at: U+0000 and lone surrogates.
func MendEscapes(data []byte) []byte {
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
// two, or 0 if databases refuse it.
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
