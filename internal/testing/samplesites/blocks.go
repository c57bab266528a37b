package samplesites

import (
	"html"
	"html/template"
	"strings"
)

// block is a part of a text: as served, and in the two forms wanted from extraction.
type block struct {
	HTML     template.HTML
	Markdown string // without white space at its ends
	Text     string
}

// inline is a part of a paragraph.
type inline struct{ html, markdown, text string }

func words(s string) inline  { return inline{html.EscapeString(s), s, s} }
func strong(s string) inline { return inline{"<strong>" + s + "</strong>", "**" + s + "**", s} }
func emph(s string) inline   { return inline{"<em>" + s + "</em>", "*" + s + "*", s} }
func code(s string) inline {
	return inline{`<code class="docutils literal notranslate"><span class="pre">` + s + "</span></code>", "`" + s + "`", s}
}

// link returns a link to a path; in Markdown it is absolute.
func link(text, base, path string) inline {
	return inline{`<a class="reference internal" href="` + path + `">` + text + "</a>", "[" + text + "](" + base + path + ")", text}
}

func para(parts ...inline) block {
	h, m, t := join(parts)
	return block{template.HTML("<p>" + h + "</p>\n"), m, t}
}

func join(parts []inline) (h, m, t string) {
	for _, p := range parts {
		h, m, t = h+p.html, m+p.markdown, t+p.text
	}
	return h, m, t
}

func heading(level int, text string) block {
	tag := "h" + string(rune('0'+level))
	return block{template.HTML("<" + tag + ">" + html.EscapeString(text) + "</" + tag + ">\n"), strings.Repeat("#", level) + " " + text, text}
}

func quote(text string) block {
	return block{template.HTML("<blockquote><p>" + html.EscapeString(text) + "</p></blockquote>\n"), "> " + text, text}
}

func bullets(items ...inline) block { return list("ul", func(int) string { return "- " }, items) }

func numbered(items ...inline) block {
	return list("ol", func(i int) string { return string(rune('1'+i)) + ". " }, items)
}

func list(tag string, mark func(int) string, items []inline) block {
	var h, m, t []string
	for i, item := range items {
		h = append(h, "<li><p>"+item.html+"</p></li>\n")
		m = append(m, mark(i)+item.markdown)
		t = append(t, item.text)
	}
	return block{
		template.HTML("<" + tag + ` class="simple">` + "\n" + strings.Join(h, "") + "</" + tag + ">\n"),
		strings.Join(m, "\n"), strings.Join(t, "\n"),
	}
}

// markdown joins the Markdown of blocks.
func markdown(blocks []block) string {
	parts := make([]string, len(blocks))
	for i, b := range blocks {
		parts[i] = b.Markdown
	}
	return strings.Join(parts, "\n\n")
}

// markup joins the HTML of blocks.
func markup(blocks []block) template.HTML {
	var b strings.Builder
	for _, one := range blocks {
		b.WriteString(string(one.HTML))
	}
	return template.HTML(b.String())
}
