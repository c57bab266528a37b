package manpage

import "strings"

// page is a page in the man macros.
type page struct {
	text strings.Builder
}

// macro writes a macro with its arguments.
func (p *page) macro(name string, args ...string) {
	p.text.WriteString("." + name)
	for _, arg := range args {
		p.text.WriteString(` "` + strings.ReplaceAll(roff(arg), `"`, `\(dq`) + `"`)
	}
	p.text.WriteString("\n")
}

func (p *page) section(title string) { p.macro("SH", title) }

// line writes a line of roff.
func (p *page) line(text string) {
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	p.text.WriteString(text + "\n")
}

// item writes a tagged paragraph. tag is roff, text is plain text.
func (p *page) item(tag, text string) {
	p.macro("TP")
	p.line(tag)
	p.prose(text)
}

// prose writes the plain text of --help: paragraphs separated by empty lines, and indented lines
// verbatim.
func (p *page) prose(text string) {
	example, gap := false, false
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		indented := strings.HasPrefix(line, "  ")
		switch {
		case strings.TrimSpace(line) == "":
			gap = true
			continue
		case indented && !example:
			p.macro("PP")
			p.macro("EX")
		case !indented && example:
			p.macro("EE")
			p.macro("PP")
		case gap && example:
			p.line("")
		case gap:
			p.macro("PP")
		}
		example, gap = indented, false
		p.line(roff(strings.TrimRight(line, " ")))
	}
	if example {
		p.macro("EE")
	}
}

var special = strings.NewReplacer(`\`, `\e`, "-", `\-`, "^", `\(ha`, "~", `\(ti`, "`", `\(ga`, "'", `\(aq`)

// roff escapes plain text for roff.
func roff(text string) string { return special.Replace(text) }
