package top

import (
	"regexp"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
)

// style is the style of a part of a line. No information is shown by colour alone.
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

// ownCodes matches the escape sequences of styles.
var ownCodes = sync.OnceValue(func() *regexp.Regexp {
	codes := []string{regexp.QuoteMeta(ansi.ResetStyle)}
	for _, s := range styles {
		codes = append(codes, regexp.QuoteMeta(s.String()))
	}
	return regexp.MustCompile(strings.Join(codes, "|"))
})

// guard escapes all control characters of a line except the codes of styles, as a safeguard for
// text that was not cleaned earlier.
func guard(line string) string {
	var b strings.Builder
	at := 0
	for _, code := range ownCodes().FindAllStringIndex(line, -1) {
		b.WriteString(clean(line[at:code[0]]) + line[code[0]:code[1]])
		at = code[1]
	}
	return b.String() + clean(line[at:])
}

// fit pads or truncates a text to a width in columns.
func fit(text string, width int) string {
	if width <= 0 {
		return ""
	}
	text = ansi.Truncate(text, width, "…")
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}

// fitRight is like fit with the text aligned to the right.
func fitRight(text string, width int) string {
	text = ansi.Truncate(text, max(0, width), "…")
	return strings.Repeat(" ", max(0, width-ansi.StringWidth(text))) + text
}

// bar draws a share as a bar of a width in columns.
func bar(part float64, width int) string {
	part = min(max(part, 0), 1)
	full := int(part*float64(width) + 0.5)
	if part > 0 && full == 0 {
		full = 1
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "]"
}

// column is the layout of a table column. A width of 0 takes the remaining space.
type column struct {
	name  string
	width int
	right bool // align to the right
	from  int  // screen width below which the column is hidden
}

func right(name string, width int) column { return column{name: name, width: width, right: true} }

// line lays out the cells of a row, separated by spaces.
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
