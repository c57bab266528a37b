package article

import (
	"strings"
	"unicode/utf8"
)

// escapeContext is the place of inline Markdown, which determines the escapes and the form of a
// line break.
type escapeContext uint8

const (
	inParagraph escapeContext = iota
	inHeading
	inCell
)

// escape escapes the text of one line so that Markdown reads it as text.
func escape(s string, where escapeContext) string {
	return string(appendEscaped(nil, s, where, true))
}

// appendEscaped appends text. It escapes only characters that may be read as markup (CommonMark
// 0.31, section 2.4), so that the text stays readable. start means that the text is at the
// beginning of a line.
func appendEscaped(b []byte, s string, where escapeContext, start bool) []byte {
	if start && where != inCell {
		b, s = escapeStart(b, s)
	}
	for i := range len(s) {
		if mustEscape(s, i, b, where) {
			b = append(b, '\\')
		}
		b = append(b, s[i])
	}
	return b
}

func mustEscape(s string, i int, before []byte, where escapeContext) bool {
	switch s[i] {
	case '\\', '`', '*', '[', ']', '~':
		return true
	case '|':
		return where == inCell
	case '#':
		return where == inHeading && i == len(s)-1
	case '_':
		return !(endsInWord(before) && startsWithWord(s[i+1:]))
	case '<':
		return i+1 == len(s) || isLetter(s[i+1]) || strings.IndexByte("/!?", s[i+1]) >= 0
	case '&':
		return isEntity(s[i+1:])
	}
	return false
}

// isEntity reports whether the text after an ampersand makes it an entity. The longest name has 31
// letters.
func isEntity(s string) bool {
	end := strings.IndexByte(s[:min(len(s), 40)], ';')
	return end > 0 && (isLetter(s[0]) || s[0] == '#')
}

func endsInWord(b []byte) bool {
	r, _ := utf8.DecodeLastRune(b)
	return len(b) > 0 && inWord(r)
}

func startsWithWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && inWord(r)
}

// escapeStart escapes characters that would make a line a heading, a quote, an item, a rule, a
// fence, a table row or the end of a table.
func escapeStart(b []byte, s string) (escaped []byte, rest string) {
	if s == "" {
		return b, s
	}
	switch s[0] {
	case '#', '>', '=', '|', ':':
		return append(b, '\\', s[0]), s[1:]
	case '+', '-':
		if len(s) > 1 && strings.IndexByte(" +-|:", s[1]) < 0 {
			return b, s
		}
		return append(b, '\\', s[0]), s[1:]
	}
	digits := 0
	for digits < len(s) && digits < 10 && '0' <= s[digits] && s[digits] <= '9' {
		digits++
	}
	if digits > 0 && digits < len(s) && (s[digits] == '.' || s[digits] == ')') && (digits+1 == len(s) || s[digits+1] == ' ') {
		b = append(b, s[:digits]...)
		return append(b, '\\', s[digits]), s[digits+1:]
	}
	return b, s
}
