// Package steady runs regular expressions in a way that can be ended: RE2 takes
// linear time, but on megabytes, and with large expressions, that is seconds.
package steady

import (
	"io"
	"regexp"
	"unicode/utf8"
)

// Unit is how many bytes that an expression reads are one unit of work.
const Unit = 4

// short is up to where a text is searched in one piece, in bytes: not even the
// largest expression takes long to that.
const short = 2 << 10

// Match reports whether a text has a match. The error is that of spend.
func Match(re *regexp.Regexp, text string, spend func(n int) error) (bool, error) {
	if len(text) <= short {
		return re.MatchString(text), spend(1 + len(text)/Unit)
	}
	in := &reader{text: text, spend: spend}
	is := re.MatchReader(in)
	return is && in.err == nil, in.err
}

// Find returns where the first match in a text is, and its groups, as
// FindStringSubmatchIndex does. The error is that of spend.
func Find(re *regexp.Regexp, text string, spend func(n int) error) ([]int, error) {
	if len(text) <= short {
		return re.FindStringSubmatchIndex(text), spend(1 + len(text)/Unit)
	}
	in := &reader{text: text, spend: spend}
	m := re.FindReaderSubmatchIndex(in)
	return m, in.err
}

// reader reads a text, and is at its end when the work is.
type reader struct {
	text  string
	at    int
	told  int // bytes that spend was told
	spend func(n int) error
	err   error
}

// often is after how many bytes the work is told.
const often = 256

func (r *reader) ReadRune() (rune, int, error) {
	if r.at-r.told >= often {
		if r.err == nil {
			r.err = r.spend((r.at - r.told) / Unit)
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
