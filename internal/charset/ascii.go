package charset

import "strings"

const (
	asciiSpace = "\t\n\f\r " // ASCII whitespace (Infra standard section 4.6)
	httpSpace  = "\t\n\r "   // HTTP whitespace (Fetch standard section 2)
)

func isSpace(c byte) bool { return strings.IndexByte(asciiSpace, c) >= 0 }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// foldEqual reports whether b is lower, which is in lower case, without regard
// to ASCII case.
func foldEqual(b []byte, lower string) bool {
	return len(b) == len(lower) && foldPrefix(b, lower)
}

func foldPrefix(b []byte, lower string) bool {
	if len(b) < len(lower) {
		return false
	}
	for i := range len(lower) {
		if lowerByte(b[i]) != lower[i] {
			return false
		}
	}
	return true
}
