package structured

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// spaceLength returns the length of the white space, mark or comment at the start of s.
func spaceLength(s string) int {
	switch c := s[0]; {
	case isWhitespace(c):
		return 1
	case c == '/':
		return slashComment(s)
	case c == '<' || c == '-' || c == ']':
		return markLength(s)
	case c >= utf8.RuneSelf:
		u, n := utf8.DecodeRuneInString(s)
		if unicode.IsSpace(u) || u == '\ufeff' || u == '\u200b' {
			return n
		}
	}
	return 0
}

// slashComment returns the length of a JavaScript comment. If it only hides a mark from JavaScript,
// the comment ends after that: data may follow.
func slashComment(s string) int {
	switch {
	case strings.HasPrefix(s, "//"):
		rest := strings.TrimLeft(s[2:], " \t")
		if n := markLength(rest); n > 0 {
			return len(s) - len(rest) + n
		}
		if i := strings.IndexAny(s, "\r\n"); i >= 0 {
			return i
		}
		return len(s)
	case strings.HasPrefix(s, "/*"):
		if i := strings.Index(s[2:], "*/"); i >= 0 {
			return 2 + i + 2
		}
	}
	return 0
}

// markLength returns the length of a mark that hides a script from software that does not know
// scripts, or of a whole HTML comment, which is one whose mark is not followed by an object or
// array.
func markLength(s string) int {
	for _, mark := range []string{"<![CDATA[", "]]>", "-->"} {
		if strings.HasPrefix(s, mark) {
			return len(mark)
		}
	}
	const open, end = "<!--", "-->"
	if !strings.HasPrefix(s, open) {
		return 0
	}
	rest := strings.TrimLeftFunc(s[len(open):], unicode.IsSpace)
	if rest == "" || rest[0] == '{' || rest[0] == '[' || strings.HasPrefix(rest, "<![CDATA[") {
		return len(open)
	}
	if i := strings.Index(s, end); i >= 0 {
		return i + len(end)
	}
	return len(s) // a comment that does not end
}
