package extract

import (
	"fmt"
	"iter"
	"unicode/utf8"

	"seine/internal/base/regexbound"
)

// pattern is a compiled regular expression (RE2). One search takes linear time, but searching all
// matches can be quadratic, since each search may read to the end of the text. So in a long text
// each match is searched separately, with a search that can be ended and that counts the bytes it
// reads.
type pattern struct {
	regex *regexbound.Regexp
	next  *regexbound.Regexp // regex after the first character of a text
}

// longText is the length, in bytes, from which matches are searched one by one, and longWork the
// work of one search. In a shorter text, finding all matches takes a few milliseconds.
const (
	longText = 256
	longWork = 4 * longText
)

func compilePattern(text string) (*pattern, error) {
	regex, err := regexbound.Compile(text)
	if err != nil {
		return nil, err
	}
	return patternOf(regex, text)
}

func patternOf(regex *regexbound.Regexp, text string) (*pattern, error) {
	const before = `\A(?s:.)(?s:.*?)(`
	next, err := regexbound.Compile(before + text + `)`)
	if err != nil { // "\Q" without its end
		next, err = regexbound.Compile(before + text + `\E)`)
	}
	return &pattern{regex, next}, err
}

// all yields the positions of the matches in a text, as FindAllStringSubmatchIndex returns them. It
// ends with the error of spend, which is given the work.
func (p *pattern) all(text string, spend func(n int) error) iter.Seq2[[]int, error] {
	return func(yield func([]int, error) bool) {
		if len(text) < longText && p.regex.Work(text) <= longWork {
			p.short(text, spend, yield)
			return
		}
		end := -1
		for m, err := range p.each(text, spend) {
			if err == nil && m[1] == m[0] && m[0] == end {
				continue // an empty match right after a match does not count
			}
			if !yield(m, err) {
				return
			}
			if err == nil {
				end = m[1]
			}
		}
	}
}

// each yields the positions of the matches in a text, each searched separately. It includes empty
// matches right after another match.
func (p *pattern) each(text string, spend func(n int) error) iter.Seq2[[]int, error] {
	return func(yield func([]int, error) bool) {
		empty := -1 // position of the last empty match
		for pos := 0; pos <= len(text); {
			m, err := p.from(text, pos, spend)
			if err != nil {
				yield(nil, err)
				return
			}
			if m == nil || m[1] != empty && !yield(m, nil) {
				return
			}
			if m[0] == m[1] {
				empty = m[1]
			}
			if m[1] > pos {
				pos = m[1]
			} else {
				_, width := utf8.DecodeRuneInString(text[pos:])
				pos += max(width, 1)
			}
		}
	}
}

// short searches for the first match before it searches for all.
func (p *pattern) short(text string, spend func(n int) error, yield func([]int, error) bool) {
	if err := spend(p.regex.Work(text)); err != nil {
		yield(nil, err)
		return
	}
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

// from returns the first match at or after pos. Text before pos counts for "^" and "\b".
func (p *pattern) from(text string, pos int, spend func(n int) error) ([]int, error) {
	if pos == 0 {
		return p.regex.Find(text, spend)
	}
	_, width := utf8.DecodeLastRuneInString(text[:pos])
	m, err := p.next.Find(text[pos-width:], spend)
	if m == nil || err != nil {
		return nil, err
	}
	m = m[2:] // the first group is the match
	for i := range m {
		if m[i] >= 0 {
			m[i] += pos - width
		}
	}
	return m, nil
}

// maxMade is the maximum length of a text that replacements and templates make, in bytes: that of
// all records of a page.
const maxMade = MaxRecordBytes

// errMade is returned if such a text becomes too long.
var errMade = fmt.Errorf("%w: a constructed text would have more than %d bytes", errBound, maxMade)

// replaceAll is ReplaceAllString. It stops with the error of spend, and with errMade.
func (p *pattern) replaceAll(text, with string, spend func(n int) error) (string, error) {
	var out []byte
	last := 0
	for m, err := range p.all(text, spend) {
		if err != nil {
			return "", err
		}
		out = append(out, text[last:m[0]]...)
		out = p.regex.ExpandString(out, with, text, m)
		last = m[1]
		if len(out) > maxMade {
			return "", errMade
		}
	}
	if last == 0 && len(out) == 0 {
		return text, nil
	}
	return string(append(out, text[last:]...)), nil
}
