package article

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"seine/internal/page/dom"
)

// maxMathDepth bounds the nesting of a formula that is read; real ones have a dozen levels.
const maxMathDepth = 64

// texOfPresentation converts MathML without a TeX annotation to TeX (MathML Core chapter 3): as
// plain text, ½ would be 12. It returns false for unknown elements, such as long division, and for
// formulas that are a plain sequence of signs, which are correct as text.
func texOfPresentation(n *html.Node) (tex string, ok bool) {
	w := mathWriter{known: true}
	tex = strings.TrimSpace(w.element(n, 0))
	return tex, w.known && w.structured
}

type mathWriter struct {
	known      bool // all elements so far are known
	structured bool // an element was seen that plain text would lose
}

func (w *mathWriter) element(n *html.Node, depth int) string {
	if depth > maxMathDepth {
		w.known = false
		return ""
	}
	switch n.Data {
	case "mi", "mn", "mo", "ms":
		return mathText(n)
	case "mtext":
		return `\text{` + mathText(n) + "}"
	case "mspace":
		return " "
	case "annotation", "annotation-xml", "mphantom":
		return ""
	}
	var parts []string
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode {
			parts = append(parts, w.element(c, depth+1))
		}
	}
	return w.join(n.Data, parts)
}

// join converts an element, given its converted parts.
func (w *mathWriter) join(name string, parts []string) string {
	all := strings.Join(parts, "")
	switch name {
	case "math", "mrow", "mstyle", "mpadded", "semantics", "merror":
		return all
	}
	w.structured = true
	switch {
	case name == "mtd":
		return all
	case name == "mtr":
		return strings.Join(parts, " & ")
	case name == "mtable":
		return `\begin{matrix}` + strings.Join(parts, ` \\ `) + `\end{matrix}`
	case name == "mfenced":
		return "(" + strings.Join(parts, ",") + ")"
	case name == "msqrt":
		return `\sqrt{` + all + "}"
	case name == "mfrac" && len(parts) == 2:
		return `\frac{` + parts[0] + "}{" + parts[1] + "}"
	case name == "mroot" && len(parts) == 2:
		return `\sqrt[` + parts[1] + "]{" + parts[0] + "}"
	case (name == "msup" || name == "mover") && len(parts) == 2:
		return base(parts[0]) + "^{" + parts[1] + "}"
	case (name == "msub" || name == "munder") && len(parts) == 2:
		return base(parts[0]) + "_{" + parts[1] + "}"
	case (name == "msubsup" || name == "munderover") && len(parts) == 3:
		return base(parts[0]) + "_{" + parts[1] + "}^{" + parts[2] + "}"
	}
	w.known = false
	return all
}

// base returns the base of a script: in braces, if it is more than one character.
func base(part string) string {
	if utf8.RuneCountInString(part) == 1 {
		return part
	}
	return "{" + part + "}"
}

// mathSigns escapes the special characters of TeX.
var mathSigns = strings.NewReplacer(`\`, `\backslash `, "{", `\{`, "}", `\}`, "$", `\$`, "%", `\%`, "#", `\#`, "&", `\&`, "_", `\_`, "^", `\hat{}`, "~", `\sim `)

// mathText returns the text of an element, without the invisible operators (U+2061 to U+2064).
func mathText(n *html.Node) string {
	return mathSigns.Replace(strings.Map(func(r rune) rune {
		if r >= 0x2061 && r <= 0x2064 {
			return -1
		}
		return r
	}, strings.TrimSpace(dom.RawText(n))))
}
