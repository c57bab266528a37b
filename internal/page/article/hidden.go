package article

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// classesUnseen are the classes of texts for screen readers, of link signs beside headings, and of
// line numbers and buttons beside code.
var classesUnseen = classes(`
	sr-only visually-hidden visuallyhidden screen-reader-text screenreader-only element-invisible a11y-hidden
	mw-editsection headerlink hash-link header-anchor anchorjs-link footnote-backref
	gutter linenos linenodiv lineno lnt ln line-number line-numbers-rows rouge-gutter blob-num hljs-ln-numbers
	toolbar-item copybtn copy-btn btn-copy copy-button copy-code-button zeroclipboard-container`)

// isUnseen reports whether an element is not content: never shown, to be clicked, or added beside
// the text by a generator.
func isUnseen(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Button, atom.Input, atom.Select, atom.Textarea, atom.Option, atom.Optgroup, atom.Label, atom.Datalist,
		atom.Object, atom.Embed, atom.Canvas, atom.Audio, atom.Video, atom.Map, atom.Area, atom.Meta, atom.Link,
		atom.Progress, atom.Meter, atom.Dialog:
		return !isTask(n) && !isToggle(n)
	case atom.A:
		if isPermalink(n) {
			return true
		}
	case atom.Pre, atom.Code, atom.Main, atom.Body, atom.Html:
		return isSilent(n)
	case atom.Img: // screen readers do not see the picture of a formula, and other readers do not see the formula
		if _, _, ok := formula(n); ok {
			return false
		}
	}
	return isSilent(n) || isHidden(n) || classesUnseen.has(n)
}

// isToggle reports whether a control is the heading of the content that it shows.
func isToggle(n *html.Node) bool {
	return n.DataAtom == atom.Button && n.Parent != nil && (isHeading(n.Parent) || n.Parent.DataAtom == atom.Dt)
}

// isTask reports whether a control is the checkbox of a task list.
func isTask(n *html.Node) bool {
	return n.DataAtom == atom.Input && strings.EqualFold(dom.Attribute(n, "type"), "checkbox") &&
		dom.Has(n, "disabled") && n.Parent != nil && (n.Parent.DataAtom == atom.Li || n.Parent.DataAtom == atom.P)
}

func isHidden(n *html.Node) bool {
	for i := range n.Attr {
		a := &n.Attr[i]
		switch a.Key {
		case "hidden":
			return a.Val != "until-found"
		case "aria-hidden":
			if a.Val == "true" {
				return true
			}
		case "style":
			if len(a.Val) <= maxClass && hidesByStyle(a.Val) {
				return true
			}
		}
	}
	return false
}

// isCovered reports whether an element is hidden only until a script runs: by an attribute, style
// or class, or because it is for browsers without scripts. A short text for those is only a hint,
// and does not count.
func isCovered(n *html.Node) bool {
	return n.DataAtom == atom.Noscript && hasMuchText(n) || isBlock(n) && (isHidden(n) || classesUnseen.has(n))
}

// hasMuchText reports whether the first nodes in an element have more text than a hint.
func hasMuchText(n *html.Node) bool {
	var sum int32
	left := 2000
	for w := dom.Walk(n); w.Next() && left > 0 && sum < enough; left-- {
		if w.Node.Type == html.TextNode && !w.Leaving {
			sum += weigh(w.Node.Data)
		}
	}
	return sum >= enough
}

// uncovered returns a visible copy of an element, without its children.
func uncovered(n *html.Node) *html.Node {
	switch {
	case !isCovered(n):
		return shallow(n)
	case n.DataAtom == atom.Noscript && holdsPicture(n):
		return shallow(n)
	case n.DataAtom == atom.Noscript:
		return element(atom.Div)
	}
	e := shallow(n)
	e.Attr = slices.DeleteFunc(slices.Clone(e.Attr), func(a html.Attribute) bool {
		return a.Key == "hidden" || a.Key == "aria-hidden" || a.Key == "style"
	})
	return e
}

// weighTree returns the weight of the text in a node.
func weighTree(n *html.Node) (sum int32) {
	for w := dom.Walk(n); w.Next(); {
		switch {
		case w.Node.Type == html.TextNode:
			if !w.Leaving {
				sum += weigh(w.Node.Data)
			}
		case w.Node != n && isSilent(w.Node):
			w.Skip()
		}
	}
	return sum
}

func hidesByStyle(style string) bool {
	s := strings.ToLower(strings.ReplaceAll(style, " ", ""))
	return strings.Contains(s, "display:none") || strings.Contains(s, "visibility:hidden")
}

// isPermalink reports whether a link is the sign beside a heading or a note that leads to itself or
// back: its text has no letters or digits, and its URL is a fragment.
func isPermalink(n *html.Node) bool {
	if !strings.HasPrefix(dom.Attribute(n, "href"), "#") || n.FirstChild == nil {
		return false
	}
	if signOf(n) == signStrong { // "skip to content", "jump to search"
		return true
	}
	seen := 0
	for w := dom.Walk(n); w.Next() && seen < 16; seen++ {
		if w.Node.Type == html.TextNode && (len(w.Node.Data) > 16 || hasWord(w.Node.Data)) {
			return false
		}
		if w.Node.DataAtom == atom.Img || w.Node.DataAtom == atom.Code {
			return false
		}
	}
	return seen < 16
}

// hasWord reports whether a text has a letter or a digit.
func hasWord(s string) bool { return strings.ContainsFunc(s, inWord) }

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// weigh returns the weight of a text: its letters and digits. A letter of a script without spaces
// weighs twice as much as one of an alphabet.
func weigh(s string) int32 {
	var w int32
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if isLetter(c) || isDigit(c) {
				w++
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch {
		case r >= 0x0e00 && r < 0x0e80 || r >= 0x3040 && r < 0xd7a4 || r >= 0x20000 && r < 0x32000:
			w += 2
		case inWord(r):
			w++
		}
	}
	return w
}
