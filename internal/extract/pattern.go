package extract

import (
	"context"
	"iter"
	"regexp"
	"unicode/utf8"
)

// pattern is a compiled regular expression (RE2). One search takes linear time,
// but each match of a text may be followed by a search to its end, which makes
// all of them quadratic. So those in a long text are searched one by one, and
// the time of the rules can end that.
type pattern struct {
	regex *regexp.Regexp
	next  *regexp.Regexp // regex behind the first character of a text; nil if that cannot be said
}

// longText is from where on matches are searched one by one, in bytes: in a
// shorter text all of them take a second at worst.
const longText = 16 << 10

func compilePattern(text string) (*pattern, error) {
	regex, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	next, err := regexp.Compile(`\A(?s:.)(?s:.*?)(` + text + `)`)
	if err != nil { // "\Q" without its end
		next = nil
	}
	return &pattern{regex, next}, nil
}

// all yields where the matches in a text are, as FindAllStringSubmatchIndex gives
// them. It ends with the error of ctx.
func (p *pattern) all(ctx context.Context, text string) iter.Seq2[[]int, error] {
	return func(yield func([]int, error) bool) {
		if len(text) < longText || p.next == nil {
			p.short(text, yield)
			return
		}
		for pos, end := 0, -1; pos <= len(text); {
			m := p.from(text, pos)
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if m == nil {
				return
			}
			again := m[1] == pos && m[0] == end // nothing, right behind a match, is none
			if end = m[1]; end > pos {
				pos = end
			} else {
				_, width := utf8.DecodeRuneInString(text[pos:])
				pos += max(width, 1)
			}
			if !again && !yield(m, nil) {
				return
			}
		}
	}
}

// short does not search all where the first match will do.
func (p *pattern) short(text string, yield func([]int, error) bool) {
	first := p.regex.FindStringSubmatchIndex(text)
	if first == nil || !yield(first, nil) {
		return
	}
	for _, m := range p.regex.FindAllStringSubmatchIndex(text, -1)[1:] {
		if !yield(m, nil) {
			return
		}
	}
}

// from returns the first match at pos or behind it. What is before pos counts for
// "^" and "\b".
func (p *pattern) from(text string, pos int) []int {
	if pos == 0 {
		return p.regex.FindStringSubmatchIndex(text)
	}
	_, width := utf8.DecodeLastRuneInString(text[:pos])
	m := p.next.FindStringSubmatchIndex(text[pos-width:])
	if m == nil {
		return nil
	}
	m = m[2:] // its first group is the match
	for i := range m {
		if m[i] >= 0 {
			m[i] += pos - width
		}
	}
	return m
}

// replaceAll is ReplaceAllString. It ends with the error of ctx.
func (p *pattern) replaceAll(ctx context.Context, text, with string) (string, error) {
	if len(text) < longText || p.next == nil {
		return p.regex.ReplaceAllString(text, with), nil
	}
	var out []byte
	last := 0
	for m, err := range p.all(ctx, text) {
		if err != nil {
			return "", err
		}
		out = append(out, text[last:m[0]]...)
		out = p.regex.ExpandString(out, with, text, m)
		last = m[1]
	}
	return string(append(out, text[last:]...)), nil
}
