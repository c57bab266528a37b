package charset

import "strings"

const (
	asciiSpace = "\t\n\f\r " // ASCII whitespace (Infra standard section 4.6)
	httpSpace  = "\t\n\r "   // HTTP whitespace (Fetch standard section 2)
)

func isSpace(c byte) bool { return strings.IndexByte(asciiSpace, c) >= 0 }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
