package specfile

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"seine/internal/base/safeprint"
)

// maxExcerpt is the number of characters of a source line that are printed.
const maxExcerpt = 160

// Escape sequences for terminal colours (ECMA-48 8.3.117).
const (
	red   = "\x1b[31m"
	bold  = "\x1b[1m"
	faint = "\x1b[2m"
	plain = "\x1b[0m"
)

// Write prints the problems for a terminal, each with its source line and a marker below.
func (e *Errors) Write(w io.Writer, colour bool) {
	paint := func(with, s string) safeprint.Trusted {
		if colour && s != "" {
			s = with + s + plain
		}
		return safeprint.Trusted(s)
	}
	for i := range e.Problems {
		p := &e.Problems[i]
		key, text := "", visible(p.Text)
		if p.Path != "" {
			key = visible(p.Path) + ": "
		}
		safeprint.Fprintf(w, "%s: %s%s\n", paint(faint, visible(e.place(p))), paint(bold, key), safeprint.Trusted(text))
		if line, mark, ok := e.excerpt(p); ok {
			number := fmt.Sprintf("%5d", p.Line)
			safeprint.Fprintf(w, "%s %s\n", paint(faint, number+" |"), safeprint.Trusted(line))
			safeprint.Fprintf(w, "%s %s\n", paint(faint, strings.Repeat(" ", len(number))+" |"), paint(red, mark))
		}
		if p.below != "" {
			safeprint.Fprintf(w, "%s\n", safeprint.Trusted(visible(p.below)))
		}
	}
}

// excerpt returns the source line of a problem and the marker below it.
func (e *Errors) excerpt(p *Problem) (string, string, bool) {
	if p.Line < 1 || p.Line > len(e.lines) {
		return "", "", false
	}
	source := []rune(e.lines[p.Line-1])
	if p.Column > maxExcerpt || len(source) == 0 {
		return "", "", false
	}
	part := source[:min(len(source), maxExcerpt)]
	at := min(max(p.Column-1, 0), len(part))
	n := max(1, p.width)
	mark := blanks(part[:at]) + strings.Repeat("^", max(1, len(blanks(part[at:min(at+n, len(part))]))))
	return visible(string(part)), mark, true
}

// blanks returns white space with the width of a text.
func blanks(text []rune) string {
	var b strings.Builder
	for _, r := range text {
		switch k := width.LookupRune(r).Kind(); {
		case r == '\t':
			b.WriteByte('\t')
		case k == width.EastAsianWide || k == width.EastAsianFullwidth:
			b.WriteString("  ")
		case !unicode.Is(unicode.Mn, r):
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// visible replaces control characters, because a spec may come from an untrusted source.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && r != '\n' && !safeprint.Plain(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
