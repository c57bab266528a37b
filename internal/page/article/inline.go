package article

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// line returns inline content as one line of Markdown.
func (s *spans) line(where escapeContext) string {
	return strings.Join(s.lines(where), " ")
}

// lines returns inline content as lines of Markdown. In a paragraph, each line but the last ends
// with a backslash, a hard line break. A cell has only one line.
func (s *spans) lines(where escapeContext) []string {
	s.settle()
	var b []byte
	for i := range s.list {
		b = s.append(b, i, where)
	}
	if len(b) == 0 {
		return nil
	}
	return strings.Split(string(b), "\n")
}

var marks = [spanKinds]string{spanStrong: "**", spanEmphasis: "*", spanStrike: "~~"}

func (s *spans) append(b []byte, i int, where escapeContext) []byte {
	c := &s.list[i]
	switch c.kind {
	case spanText:
		start := len(b) == 0 || b[len(b)-1] == '\n'
		return appendEscaped(b, c.text, where, start)
	case spanSpace:
		return append(b, ' ')
	case spanBreak:
		return appendBreak(b, where)
	case spanParagraph:
		if where == inParagraph {
			return append(b, "\n\n"...)
		}
		return appendBreak(b, where)
	case spanRaw:
		return append(escapeBang(b, c.text), c.text...)
	case spanCode:
		return appendCode(b, c.text, where)
	case spanLink:
		if c.ends {
			return append(b, "]("+escapeURL(s.list[c.pair].text)+")"...)
		}
		return append(escapeBang(b, "["), '[')
	default:
		if c.empty {
			return b
		}
		return append(b, marks[c.kind]...)
	}
}

// appendBreak ends a line. It avoids a second backslash at the end of a line, which some readers
// misread.
func appendBreak(b []byte, where escapeContext) []byte {
	switch {
	case where == inHeading:
		return append(b, ' ')
	case where == inCell:
		return append(b, "<br>"...)
	case bytes.HasSuffix(b, []byte{'\\'}):
		return append(b, "  \n"...)
	}
	return append(b, "\\\n"...)
}

// escapeBang prevents an exclamation mark from turning a link into an image.
func escapeBang(b []byte, next string) []byte {
	if strings.HasPrefix(next, "[") && bytes.HasSuffix(b, []byte("!")) && !bytes.HasSuffix(b, []byte("\\!")) {
		return append(b[:len(b)-1], '\\', '!')
	}
	return b
}

// appendCode appends a code span: its fence is longer than any run of backquotes in the text
// (CommonMark 0.31, section 6.1).
func appendCode(b []byte, text string, where escapeContext) []byte {
	if where == inCell {
		text = escapeBars(text)
	}
	fence := strings.Repeat("`", 1+longestRun(text, '`'))
	b = append(b, fence...)
	if text[0] == '`' || text[len(text)-1] == '`' {
		text = " " + text + " "
	}
	return append(append(b, text...), fence...)
}

// escapeBars prevents bars from ending a cell.
func escapeBars(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// settle drops the marks that Markdown would not read as marks in their position: a text without
// emphasis is better than one with stray asterisks.
func (s *spans) settle() {
	s.join()
	for i := range s.list {
		c := &s.list[i]
		if c.ends || c.pair == i || c.kind == spanLink {
			continue
		}
		opens := flanks(s.after(i), s.before(i))
		closes := flanks(s.before(c.pair), s.after(c.pair))
		tilde := c.kind == spanStrike && (s.after(i) == '~' || s.before(c.pair) == '~')
		if !opens || !closes || tilde {
			c.empty, s.list[c.pair].empty = true, true
		}
	}
}

// flanks reports whether a mark between the runes inside and outside can start or end emphasis
// (CommonMark 0.31, section 6.2).
func flanks(inside, outside rune) bool {
	return !unicode.IsSpace(inside) && (!isPunctuation(inside) || unicode.IsSpace(outside) || isPunctuation(outside))
}

func isPunctuation(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// before returns the rune before a mark, skipping other marks; a space at the start.
func (s *spans) before(i int) rune {
	if i == len(s.list) && len(s.tail) > 0 {
		r, _ := utf8.DecodeLastRune(s.tail)
		return r
	}
	return s.beside(i, -1, utf8.DecodeLastRuneInString)
}

// after returns the rune after a mark, skipping other marks; a space at the end.
func (s *spans) after(i int) rune { return s.beside(i, 1, utf8.DecodeRuneInString) }

// beside searches for the nearest rune in the direction of step.
func (s *spans) beside(i, step int, nearest func(text string) (r rune, size int)) rune {
	for i += step; i >= 0 && i < len(s.list); i += step {
		switch c := &s.list[i]; c.kind {
		case spanText:
			r, _ := nearest(c.text)
			return r
		case spanSpace, spanBreak, spanParagraph:
			return ' '
		case spanStrong, spanEmphasis, spanStrike:
		default:
			return '.'
		}
	}
	return ' '
}
