package manpage

import "strings"

// page is a page that is being written, of the man macros.
type page struct {
	text strings.Builder
}

// macro writes a request with its arguments.
func (p *page) macro(name string, args ...string) {
	p.text.WriteString("." + name)
	for _, arg := range args {
		p.text.WriteString(` "` + strings.ReplaceAll(roff(arg), `"`, `\(dq`) + `"`)
	}
	p.text.WriteString("\n")
}

func (p *page) section(title string) { p.macro("SH", title) }

// line writes a line that is roff already.
func (p *page) line(text string) {
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	p.text.WriteString(text + "\n")
}

// item is a tagged paragraph. The tag is roff already, the text is not.
func (p *page) item(tag, text string) {
	p.macro("TP")
	p.line(tag)
	p.prose(text)
}

// prose writes text of --help: paragraphs, with an empty line between two, and what is indented as it stands.
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

// roff is text as it stands, with what roff would take for something else escaped.
func roff(text string) string { return special.Replace(text) }
