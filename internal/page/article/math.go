package article

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// formula returns an element as TeX if it is a formula whose TeX the page has, and whether it is
// displayed as a block.
func formula(n *html.Node) (tex string, display, ok bool) {
	switch {
	case n.DataAtom == atom.Math:
		tex, ok = texOfMathML(n)
		return tex, dom.Attribute(n, "display") == "block", ok
	case n.DataAtom == atom.Script:
		if !isTeX(n) || n.FirstChild == nil {
			return "", false, false
		}
		return clean(n.FirstChild.Data), strings.Contains(dom.Attribute(n, "type"), "display"), true
	case n.DataAtom == atom.Img:
		if !classesMathImage.has(n) || dom.Attribute(n, "alt") == "" {
			return "", false, false
		}
		return clean(dom.Attribute(n, "alt")), classesDisplayed.has(n), true
	case (n.DataAtom == atom.Span || n.DataAtom == atom.Div) && mayBeMath(n) && classesMath.has(n):
		return delimited(n)
	}
	return "", false, false
}

var (
	classesMath = classes("math arithmatex") // of elements that a script turns into formulas
	// Classes of pictures of formulas, whose alternative text is TeX.
	classesMathImage = classes("mwe-math-fallback-image-inline mwe-math-fallback-image-display latex tex")
	classesDisplayed = classes("mwe-math-fallback-image-display")
)

// mayBeMath is a fast check that excludes most elements without classesMath.
func mayBeMath(n *html.Node) bool { return strings.Contains(dom.Attribute(n, "class"), "mat") }

// isTeX reports whether a script holds a formula for MathJax.
func isTeX(script *html.Node) bool {
	return strings.HasPrefix(dom.Attribute(script, "type"), "math/tex")
}

// texOfMathML returns the TeX source of MathML: that of an annotation, as KaTeX and MediaWiki write
// it, or of an alternative text. Otherwise it returns equivalent TeX.
func texOfMathML(n *html.Node) (tex string, ok bool) {
	for w := dom.Walk(n); w.Next(); {
		if !w.Leaving && w.Node.Data == "annotation" && dom.Attribute(w.Node, "encoding") == "application/x-tex" && w.Node.FirstChild != nil {
			return clean(w.Node.FirstChild.Data), true
		}
	}
	if alt := dom.Attribute(n, "alttext"); alt != "" {
		return clean(alt), true
	}
	return texOfPresentation(n)
}

// delimited returns the TeX of an element that a script of the page renders as a formula.
func delimited(n *html.Node) (tex string, display, ok bool) {
	t := n.FirstChild
	if t == nil || t.NextSibling != nil || t.Type != html.TextNode {
		return "", false, false
	}
	text := strings.TrimSpace(t.Data)
	for _, d := range delimiters {
		if len(text) > len(d.from)+len(d.to) && strings.HasPrefix(text, d.from) && strings.HasSuffix(text, d.to) {
			return clean(text[len(d.from) : len(text)-len(d.to)]), d.display, true
		}
	}
	return "", false, false
}

// delimiters are the default delimiters of TeX in running text for MathJax and KaTeX.
var delimiters = [...]struct {
	from, to string
	display  bool
}{{`\(`, `\)`, false}, {`\[`, `\]`, true}, {"$$", "$$", true}}

// mathScript returns the script that renders TeX in the text, or nil.
func mathScript(root *html.Node) *html.Node {
	if root == nil {
		return nil
	}
	for w := dom.Walk(root); w.Next(); {
		if w.Leaving || w.Node.DataAtom != atom.Script {
			continue
		}
		if src := strings.ToLower(dom.Attribute(w.Node, "src")); strings.Contains(src, "mathjax") || strings.Contains(src, "katex") {
			return w.Node
		}
	}
	return nil
}

// textAndTeX adds text of a page in which a script finds formulas.
func (s *spans) textAndTeX(text string) {
	for {
		at, tex, rest, display := cutTeX(text)
		if at < 0 {
			s.words(text)
			return
		}
		s.words(text[:at])
		raisedSpans{s}.formula(clean(tex), display)
		text = rest
	}
}

// cutTeX finds the first formula between delimiters; at is -1 if there is none.
func cutTeX(text string) (at int, tex, rest string, display bool) {
	at = -1
	for _, d := range delimiters {
		before, behind, ok := strings.Cut(text, d.from)
		if !ok || at >= 0 && len(before) >= at {
			continue
		}
		if inside, after, ok := strings.Cut(behind, d.to); ok && strings.TrimSpace(inside) != "" {
			at, tex, rest, display = len(before), inside, after, d.display
		}
	}
	return at, tex, rest, display
}

// clean returns TeX on one line, without the style that MediaWiki adds.
func clean(tex string) string {
	tex = strings.Join(strings.Fields(tex), " ")
	if inner, ok := strings.CutPrefix(tex, `{\displaystyle `); ok && strings.HasSuffix(inner, "}") {
		tex = strings.TrimSpace(strings.TrimSuffix(inner, "}"))
	}
	return tex
}

// dollars returns TeX in the delimiters of Markdown.
func dollars(tex string, display bool) string {
	if display {
		return "$$" + tex + "$$"
	}
	return "$" + tex + "$"
}
