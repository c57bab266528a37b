// Package regexbound runs regular expressions with a bounded cost: RE2 takes linear time, but on
// megabytes, or with large expressions, that is seconds.
package regexbound

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// Regexp is an expression with its cost per byte. RE2 may have all instructions of an expression
// active at once.
type Regexp struct {
	*regexp.Regexp
	perByte int
	linear  bool
}

// instructions is the number of instructions of an expression that make one unit of work per byte.
// A unit takes less than 100 ns.
const instructions = 16

// ErrLarge is returned for expressions that are too large.
var ErrLarge = errors.New("the regular expression is too large")

// CompileSmall is Compile for untrusted expressions. Compiling takes time and memory in proportion
// to the size of the expression, which a few bytes can make very large; most bounds it, in
// instructions.
func CompileSmall(text string, most int) (*Regexp, error) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if size(parsed) > most {
		return nil, fmt.Errorf("%w: more than %d instructions", ErrLarge, most)
	}
	return Compile(text)
}

// size returns the approximate number of instructions of an expression.
func size(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n += size(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return n
}

// Compile compiles an expression, like regexp.Compile.
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
	return &Regexp{Regexp: re, perByte: 1 + len(prog.Inst)/instructions, linear: linear(parsed)}, nil
}

// Linear reports that finding all matches in a text takes linear time, because no match is searched
// beyond its end: an unbounded repetition is the last part of the expression and repeats one
// character.
func (re *Regexp) Linear() bool { return re.linear }

func linear(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpStar, syntax.OpPlus:
		return len(re.Sub[0].Sub) == 0
	case syntax.OpRepeat:
		return re.Max >= 0 && bounded(re.Sub[0]) || re.Max < 0 && len(re.Sub[0].Sub) == 0
	case syntax.OpConcat:
		last := len(re.Sub) - 1
		return bounded(re.Sub[:last]...) && linear(re.Sub[last])
	case syntax.OpAlternate, syntax.OpCapture:
		for _, sub := range re.Sub {
			if !linear(sub) {
				return false
			}
		}
		return true
	default:
		return bounded(re)
	}
}

// bounded reports that expressions have no unbounded repetition.
func bounded(expressions ...*syntax.Regexp) bool {
	for _, re := range expressions {
		unbounded := re.Op == syntax.OpStar || re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && re.Max < 0
		if unbounded || !bounded(re.Sub...) {
			return false
		}
	}
	return true
}

// Work returns the cost of one search of a text to its end.
func (re *Regexp) Work(text string) int { return 1 + len(text)*re.perByte }

// inOnePiece is the cost of a search that runs without interruption: some milliseconds.
const inOnePiece = 32 << 10

// short reports whether a text is searched without interruption, which is faster.
func (re *Regexp) short(text string) bool { return len(text) <= 2<<10 && re.Work(text) <= inOnePiece }

// Match reports whether a text has a match. The error is that of spend.
func (re *Regexp) Match(text string, spend func(n int) error) (bool, error) {
	if re.short(text) {
		if err := spend(re.Work(text)); err != nil {
			return false, err
		}
		return re.MatchString(text), nil
	}
	in := &reader{text: text, perByte: re.perByte, spend: spend}
	is := re.MatchReader(in)
	in.end()
	return is && in.err == nil, in.err
}

// Find returns the first match in a text with its groups, like FindStringSubmatchIndex. The error
// is that of spend.
func (re *Regexp) Find(text string, spend func(n int) error) ([]int, error) {
	if re.short(text) {
		if err := spend(re.Work(text)); err != nil {
			return nil, err
		}
		return re.FindStringSubmatchIndex(text), nil
	}
	in := &reader{text: text, perByte: re.perByte, spend: spend}
	m := re.FindReaderSubmatchIndex(in)
	in.end()
	return m, in.err
}

// reader reads a text, and ends early if spend returns an error.
type reader struct {
	text string
	at   int
	told int // bytes that were reported to spend

	perByte int
	spend   func(n int) error
	err     error
}

// often is the number of bytes between reports.
const often = 256

// end reports the bytes read since the last report, at least one.
func (r *reader) end() {
	if r.err == nil && (r.at > r.told || r.at == 0) {
		r.err = r.spend(max(1, (r.at-r.told)*r.perByte))
	}
}

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
