package htmlpage

import "bytes"

// Byte classes of the tokenizer and the text folder.
const (
	isSpace   = 1 << iota // ASCII whitespace: tab, LF, FF, CR, space
	endsName              // ends a tag name: whitespace, "/", ">"
	endsAttr              // ends an attribute name: the same and "="
	endsValue             // ends an unquoted value: whitespace, ">"
	isLetter
	isDigit
	isHex
	breaksText // the text folder must check this byte
)

var class = makeClass()

func makeClass() (c [256]uint8) {
	mark := func(bits uint8, bytes string) {
		for _, b := range []byte(bytes) {
			c[b] |= bits
		}
	}
	mark(isSpace|endsName|endsAttr|endsValue|breaksText, "\t\n\f\r ")
	mark(endsName|endsAttr, "/>")
	mark(endsAttr, "=")
	mark(endsValue, ">")
	mark(breaksText, "&\x00\xc2")
	mark(isDigit|isHex, "0123456789")
	mark(isHex, "abcdefABCDEF")
	mark(isLetter, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	return c
}

func has(b byte, bits uint8) bool { return class[b]&bits != 0 }

// skip returns the first index at or after i whose byte is not in bits.
func skip(b []byte, i int, bits uint8) int {
	for i < len(b) && class[b[i]]&bits != 0 {
		i++
	}
	return i
}

// until returns the first index at or after i whose byte is in bits.
func until(b []byte, i int, bits uint8) int {
	for i < len(b) && class[b[i]]&bits == 0 {
		i++
	}
	return i
}

func trimSpace(b []byte) []byte { return bytes.Trim(b, "\t\n\f\r ") }

// nextField cuts the first field off b. Whitespace and commas separate fields. It returns an empty
// field if none is left.
func nextField(b []byte) (field, rest []byte) {
	i := 0
	for i < len(b) && (has(b[i], isSpace) || b[i] == ',') {
		i++
	}
	j := i
	for j < len(b) && !has(b[j], isSpace) && b[j] != ',' {
		j++
	}
	return b[i:j], b[j:]
}
