package postgres

import (
	"bytes"
	"unicode/utf8"

	"seine/internal/base/jsontext"
	"seine/internal/output/sqlsink"
)

// Limits of records that are stored as JSON. PostgreSQL rejects text that is nested some thousand
// levels deep, and numbers of more than some thousand digits. These limits are far below.
const (
	maxDepth  = 500
	maxNumber = 300 // characters
	maxPower  = 3   // digits of the exponent
)

// storable returns JSON that jsonb accepts, and nil for nil. It replaces invalid UTF-8, lone
// surrogates and U+0000, which jsonb lacks, by U+FFFD. A record that is nested too deep or has a
// number that is too long is stored as a JSON string of its text.
func storable(data []byte) []byte {
	if data == nil {
		return nil
	}
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	if !isModest(data) {
		return sqlsink.MendEscapes(jsontext.AppendString(nil, string(data)))
	}
	return sqlsink.MendEscapes(data)
}

// isModest reports whether depth and numbers are within their limits.
func isModest(data []byte) bool {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			i = jsontext.StringEnd(data, i) - 1
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

// isShort reports whether PostgreSQL accepts a number.
func isShort(number []byte) bool {
	e := bytes.IndexAny(number, "eE")
	if e < 0 {
		return len(number) <= maxNumber
	}
	power := bytes.TrimLeft(number[e+1:], "+-0")
	return e <= maxNumber && len(power) <= maxPower
}
