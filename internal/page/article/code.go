package article

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/base/lazyregexp"
	"seine/internal/page/dom"
)

// code writes a fenced code block.
func (r *renderer) code(n *html.Node) {
	text := codeText(n)
	if strings.TrimSpace(text) == "" {
		return
	}
	fence := strings.Repeat("`", max(3, 1+longestRun(text, '`')))
	r.out.text(fence + language(n))
	for line := range strings.SplitSeq(text, "\n") {
		r.out.newline()
		r.out.raw(line)
	}
	r.out.newline()
	r.out.raw(fence)
	r.out.endBlock()
}

// codeText returns the text of code unchanged, without empty lines at the end. If the code has no
// line breaks, elements styled as lines separate the lines.
func codeText(n *html.Node) string {
	text := textOfCode(n, isCodeLine)
	if !strings.Contains(text, "\n") {
		text = textOfCode(n, func(n *html.Node) bool {
			return isCodeLine(n) || n.DataAtom == atom.Code && n.PrevSibling != nil && n.PrevSibling.DataAtom == atom.Code || classesLine.has(n) || dom.Has(n, "data-line")
		})
	}
	return text
}

// classesLine are the classes of lines of code.
var classesLine = classes("line code-line token-line cl view-line codeline")

var lineStyle = lazyregexp.New(`display:\s*(?:block|flex|grid|table|list-item)`)

// isCodeLine reports whether an element in code is a line.
func isCodeLine(n *html.Node) bool {
	return isBlock(n) || lineStyle().MatchString(dom.Attribute(n, "style"))
}

func textOfCode(n *html.Node, isLine func(*html.Node) bool) string {
	var b strings.Builder
	ended := false // an element ended the line
	for w := dom.Walk(n); w.Next(); {
		switch {
		case w.Node.Type == html.TextNode:
			if !w.Leaving && w.Node.Data != "" {
				if ended && b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
					b.WriteByte('\n')
				}
				ended = false
				b.WriteString(w.Node.Data)
			}
		case w.Node.Type != html.ElementNode:
		case w.Node != n && (isSilent(w.Node) || isUnseen(w.Node)):
			w.Skip()
		case w.Node.DataAtom == atom.Br:
			if !w.Leaving {
				b.WriteByte('\n')
			}
		case w.Node != n && isLine(w.Node):
			ended = true
		}
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "", "\u200b", "", "\u00ad", "").Replace(b.String())
	return strings.TrimRight(text, "\n\t ")
}

// language returns the language of code, as common highlighters write it in a class or a data
// attribute. It checks the element, its code child, and ancestors that have no other content.
func language(n *html.Node) string {
	if c := child(n, atom.Code); c != nil {
		if l := languageOf(c); l != "" {
			return l
		}
	}
	for range 7 { // pre and wrappers: Sphinx has two, a table with line numbers has five
		if n == nil || n.Type != html.ElementNode {
			return ""
		}
		switch n.DataAtom {
		case atom.Body, atom.Article, atom.Main, atom.Section, atom.Li, atom.Dd:
			return ""
		}
		if l := languageOf(n); l != "" {
			return l
		}
		n = n.Parent
	}
	return ""
}

// languagePrefixes are class prefixes that are followed by a language, longest first.
var languagePrefixes = []string{"highlight-source-", "highlight-text-", "language-", "highlight-", "lang-", "brush:", "source-"}

func languageOf(n *html.Node) string {
	for _, name := range []string{"data-lang", "data-language"} {
		if l := cleanLanguage(dom.Attribute(n, name)); l != "" {
			return l
		}
	}
	class := dom.Attribute(n, "class")
	if len(class) > maxClass {
		return ""
	}
	names := strings.Fields(strings.ToLower(class))
	for i, name := range names {
		for _, p := range languagePrefixes {
			l, ok := strings.CutPrefix(name, p)
			if ok && l == "" && i+1 < len(names) { // "brush: java;"
				l = names[i+1]
			}
			if ok {
				return cleanLanguage(l)
			}
		}
		if (name == "sourcecode" || name == "highlight") && i+1 < len(names) && n.DataAtom != atom.Div {
			return cleanLanguage(names[i+1])
		}
	}
	return ""
}

// cleanLanguage returns the name of a language in the form used after a fence, or "".
func cleanLanguage(l string) string {
	l = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(l)), ";")
	if len(l) > 24 {
		return ""
	}
	for i := range len(l) {
		if c := l[i]; !isLetter(c) && !isDigit(c) && strings.IndexByte("+#-._", c) < 0 {
			return ""
		}
	}
	switch l {
	case "default", "none", "notranslate", "text", "plain", "plaintext", "nohighlight", "code":
		return ""
	}
	return l
}
