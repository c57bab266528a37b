package top

import (
	"regexp"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
)

// style is how a part of a line looks. Nothing is shown by colour alone.
type style int

const (
	plain style = iota
	heading
	good
	warn
	bad
	faint
	chosen
)

var styles = [...]ansi.Style{
	plain:   {},
	heading: ansi.Style{}.Bold(),
	good:    ansi.Style{}.ForegroundColor(ansi.Green),
	warn:    ansi.Style{}.ForegroundColor(ansi.Yellow),
	bad:     ansi.Style{}.Bold().ForegroundColor(ansi.Red),
	faint:   ansi.Style{}.Faint(),
	chosen:  ansi.Style{}.Reverse(true),
}

func (s style) of(text string) string {
	if s == plain || text == "" {
		return text
	}
	return styles[s].Styled(text)
}

// ownCodes finds the escape sequences that styles make.
var ownCodes = sync.OnceValue(func() *regexp.Regexp {
	codes := []string{regexp.QuoteMeta(ansi.ResetStyle)}
	for _, s := range styles {
		codes = append(codes, regexp.QuoteMeta(s.String()))
	}
	return regexp.MustCompile(strings.Join(codes, "|"))
})

// guard cleans a line of the screen of all that a terminal obeys but the codes of
// styles: text that nobody cleaned where it was laid out.
func guard(line string) string {
	var b strings.Builder
	at := 0
	for _, code := range ownCodes().FindAllStringIndex(line, -1) {
		b.WriteString(clean(line[at:code[0]]) + line[code[0]:code[1]])
		at = code[1]
	}
	return b.String() + clean(line[at:])
}

// fit makes a text so many columns wide.
func fit(text string, width int) string {
	if width <= 0 {
		return ""
	}
	text = ansi.Truncate(text, width, "…")
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}

// fitRight does so with the text at the right.
func fitRight(text string, width int) string {
	text = ansi.Truncate(text, max(0, width), "…")
	return strings.Repeat(" ", max(0, width-ansi.StringWidth(text))) + text
}

// bar shows a part of a whole in so many columns.
func bar(part float64, width int) string {
	part = min(max(part, 0), 1)
	full := int(part*float64(width) + 0.5)
	if part > 0 && full == 0 {
		full = 1
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "]"
}

// column is how a part of the lines of a table is laid out: the one whose width
// is 0 takes what the others leave.
type column struct {
	name  string
	width int
	right bool // its text stands at the right
	from  int  // width of the screen below which it is left out
}

func right(name string, width int) column { return column{name: name, width: width, right: true} }

// line lays out the cells of a row in a width; a space stands between columns.
func line(cols []column, cells []string, width int) string {
	rest := width - (len(cols) - 1)
	for _, c := range cols {
		rest -= c.width
	}
	var b strings.Builder
	for i, c := range cols {
		w := c.width
		if w == 0 {
			w = max(rest, 4)
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		cell := ""
		if i < len(cells) {
			cell = cells[i]
		}
		if c.right {
			b.WriteString(fitRight(cell, w))
		} else {
			b.WriteString(fit(cell, w))
		}
	}
	return fit(b.String(), width)
}

func names(cols []column) []string {
	all := make([]string, len(cols))
	for i, c := range cols {
		all[i] = c.name
	}
	return all
}
