// Command screenshot converts the contents of a terminal, as tmux prints them with colours, into an
// SVG picture for documents. It writes to standard output.
//
//	screenshot TITLE < docs/captures/80x24.ansi > docs/top.svg
package main

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Sizes in pixels, of a monospaced font.
const (
	charWidth  = 8.4
	lineHeight = 18
	margin     = 14
)

// style is the style of characters.
type style struct {
	bold, dim, reverse bool
	colour             string
}

var colours = map[string]string{"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "35": "#d2a8ff", "36": "#76e3ea"}

const foreground, background = "#d6deeb", "#0d1117"

var escape = regexp.MustCompile(`\x1b\[([0-9;]*)m`)

func main() {
	title := "a terminal"
	if len(os.Args) > 1 {
		title = os.Args[1]
	}
	if err := draw(os.Stdout, os.Stdin, title); err != nil {
		fmt.Fprintln(os.Stderr, "screenshot:", err)
		os.Exit(1)
	}
}

func draw(w io.Writer, r io.Reader, title string) error {
	var body strings.Builder
	rows, columns, now := 0, 0, style{}
	for in := bufio.NewScanner(r); in.Scan(); rows++ {
		columns = max(columns, now.line(&body, rows, in.Text()))
	}
	width, height := 2*margin+float64(columns)*charWidth, 2*margin+rows*lineHeight
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">
<title>%s</title>
<rect width="100%%" height="100%%" rx="8" fill="%s"/>
%s</svg>
`, width, height, html.EscapeString(title), background, body.String())
	return err
}

// line draws a line and returns its number of characters. A style lasts until the next one is set,
// across ends of lines too.
func (s *style) line(b *strings.Builder, row int, text string) (column int) {
	for text != "" {
		part, rest := text, ""
		at := escape.FindStringSubmatchIndex(text)
		if at != nil {
			part, rest = text[:at[0]], text[at[1]:]
		}
		s.write(b, row, column, part)
		column += utf8.RuneCountInString(part)
		if at != nil {
			s.set(text[at[2]:at[3]])
		}
		text = rest
	}
	return column
}

// set applies an escape sequence, "select graphic rendition" (ECMA-48 section 8.3.117).
func (s *style) set(codes string) {
	for code := range strings.SplitSeq(codes, ";") {
		switch code {
		case "", "0":
			*s = style{}
		case "1":
			s.bold = true
		case "2":
			s.dim = true
		case "7":
			s.reverse = true
		case "39":
			s.colour = ""
		default:
			s.colour = colours[code]
		}
	}
}

func (s *style) write(b *strings.Builder, row, column int, text string) {
	if strings.TrimSpace(text) == "" && !s.reverse {
		return
	}
	x, y, fill, more := margin+float64(column)*charWidth, margin+row*lineHeight, foreground, ""
	if s.colour != "" {
		fill = s.colour
	}
	length := float64(utf8.RuneCountInString(text)) * charWidth
	if s.reverse {
		fmt.Fprintf(b, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", x, y, length, lineHeight, fill)
		fill = background
	}
	if s.bold {
		more = ` font-weight="bold"`
	}
	if s.dim {
		more += ` opacity="0.6"`
	}
	fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%d\" textLength=\"%.1f\" fill=\"%s\"%s xml:space=\"preserve\">%s</text>\n", x, y+lineHeight-5, length, fill, more, html.EscapeString(text))
}
