package extract

import (
	"fmt"
	"iter"
	"unicode/utf8"

	"seine/internal/base/regexbound"
)

// pattern is a compiled regular expression (RE2). One search takes linear time,
// but each match of a text may be followed by a search to its end, which makes
// all of them quadratic. So those in a long text are searched one by one, in a way
// that can be ended, and each counts what it reads.
type pattern struct {
	regex *regexbound.Regexp
	next  *regexbound.Regexp // regex behind the first character of a text
}

// longText is from where on matches are searched one by one, in bytes, and longWork
// the work of one search: in a shorter text all of them take a few milliseconds.
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

// all yields where the matches in a text are, as FindAllStringSubmatchIndex gives
// them. It ends with the error of spend, which is given the work.
func (p *pattern) all(text string, spend func(n int) error) iter.Seq2[[]int, error] {
	return func(yield func([]int, error) bool) {
		if len(text) < longText && p.regex.Work(text) <= longWork {
			p.short(text, spend, yield)
			return
		}
		end := -1
		for m, err := range p.each(text, spend) {
			if err == nil && m[1] == m[0] && m[0] == end {
				continue // nothing, right behind a match, is none
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

// each yields where the matches in a text are, each searched for itself, also those
// of nothing right behind another.
func (p *pattern) each(text string, spend func(n int) error) iter.Seq2[[]int, error] {
	return func(yield func([]int, error) bool) {
		empty := -1 // where nothing was found last
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

// short does not search all where the first match will do.
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

// from returns the first match at pos or behind it. What is before pos counts for
// "^" and "\b".
func (p *pattern) from(text string, pos int, spend func(n int) error) ([]int, error) {
	if pos == 0 {
		return p.regex.Find(text, spend)
	}
	_, width := utf8.DecodeLastRuneInString(text[:pos])
	m, err := p.next.Find(text[pos-width:], spend)
	if m == nil || err != nil {
		return nil, err
	}
	m = m[2:] // its first group is the match
	for i := range m {
		if m[i] >= 0 {
			m[i] += pos - width
		}
	}
	return m, nil
}

// maxMade is how long a text may be that replacements and templates make, in
// bytes: as much as all records of a page.
const maxMade = MaxRecordBytes

// errMade says that a text became too long.
var errMade = fmt.Errorf("%w: a text that is made would have more than %d bytes", errBound, maxMade)

// replaceAll is ReplaceAllString. It ends with the error of spend, and where the
// text becomes too long.
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
