// Package steady runs regular expressions in a way that can be ended: RE2 takes
// linear time, but on megabytes, and with large expressions, that is seconds.
package steady

import (
	"io"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// Regexp is an expression, and what each byte that it reads counts as: RE2 may have
// all instructions of an expression under way at once.
type Regexp struct {
	*regexp.Regexp
	perByte int
}

// instructions is how many instructions of an expression are a unit of work for
// each byte. A unit takes less than 100 ns.
const instructions = 16

// Compile is regexp.Compile.
func Compile(text string) (*Regexp, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	return &Regexp{Regexp: re, perByte: 1 + len(prog.Inst)/instructions}, nil
}

// Work is what it counts to search a text once, to its end.
func (re *Regexp) Work(text string) int { return 1 + len(text)*re.perByte }

// short is up to where a text is searched in one piece, in bytes: not even the
// largest expression takes long to that.
const short = 2 << 10

// Match reports whether a text has a match. The error is that of spend.
func (re *Regexp) Match(text string, spend func(n int) error) (bool, error) {
	if len(text) <= short {
		if err := spend(re.Work(text)); err != nil {
			return false, err
		}
		return re.MatchString(text), nil
	}
	in := &reader{text: text, perByte: re.perByte, spend: spend}
	is := re.MatchReader(in)
	return is && in.err == nil, in.err
}

// Find returns where the first match in a text is, and its groups, as
// FindStringSubmatchIndex does. The error is that of spend.
func (re *Regexp) Find(text string, spend func(n int) error) ([]int, error) {
	if len(text) <= short {
		if err := spend(re.Work(text)); err != nil {
			return nil, err
		}
		return re.FindStringSubmatchIndex(text), nil
	}
	in := &reader{text: text, perByte: re.perByte, spend: spend}
	m := re.FindReaderSubmatchIndex(in)
	return m, in.err
}

// reader reads a text, and is at its end when the work is.
type reader struct {
	text string
	at   int
	told int // bytes that spend was told

	perByte int
	spend   func(n int) error
	err     error
}

// often is after how many bytes the work is told.
const often = 256

func (r *reader) ReadRune() (rune, int, error) {
	if r.at-r.told >= often {
		if r.err == nil {
			r.err = r.spend((r.at - r.told) * r.perByte)
		}
		r.told = r.at
	}
	if r.at >= len(r.text) || r.err != nil {
		return 0, 0, io.EOF
	}
	if c := r.text[r.at]; c < utf8.RuneSelf {
		r.at++
		return rune(c), 1, nil
	}
	c, n := utf8.DecodeRuneInString(r.text[r.at:])
	r.at += n
	return c, n, nil
}
