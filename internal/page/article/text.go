package article

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// Text returns the text of a node with whitespace folded as in package htmlpage: one space inside a
// block, one newline between blocks, nothing at either end. Scripts, styles, templates, and
// elements for browsers without a feature have no text. A formula is TeX, and a reading of ruby
// text is in parentheses.
func Text(n *html.Node) string {
	f := folder{formulas: true}
	f.node(n)
	return f.b.String()
}

// TextOf is Text for rules: formulas are unchanged, and n itself has text even if it is a script.
// raised, if not empty, separates digits from raised or small digits after them, such as the cents
// of a price in 12<sup>99</sup>.
func TextOf(n *html.Node, raised string) string {
	f := folder{raised: raised}
	f.node(n)
	return f.b.String()
}

// node writes the content of a node.
func (f *folder) node(n *html.Node) {
	for w := dom.Walk(n); w.Next(); {
		switch {
		case w.Node.Type == html.TextNode:
			if !w.Leaving {
				f.write(w.Node.Data)
			}
		case w.Node.Type != html.ElementNode:
		case !w.Leaving && (w.Node != n || f.formulas) && (isSilent(w.Node) || f.formulas && f.formula(w.Node)):
			w.Skip()
		case w.Node != n && isReading(w.Node):
			f.write(parentheses[w.Leaving])
		default:
			f.gap = max(f.gap, gapOf(w.Node))
			if f.raised != "" && !w.Leaving && (w.Node.DataAtom == atom.Sup || w.Node.DataAtom == atom.Small) {
				f.raise(w.Node)
			}
		}
	}
}

// parentheses are the characters before (false) and after (true) a reading of ruby text.
var parentheses = map[bool]string{false: "(", true: ")"}

// isReading reports whether an element is a reading of ruby text without parentheses, that is,
// without an rp element before it.
func isReading(n *html.Node) bool {
	if n.DataAtom != atom.Rt || n.FirstChild == nil {
		return false
	}
	before := n.PrevSibling
	for before != nil && before.Type != html.ElementNode {
		before = before.PrevSibling
	}
	return before == nil || before.DataAtom != atom.Rp
}

// raise separates the digits of an element from those before it.
func (f *folder) raise(n *html.Node) {
	for w := dom.Walk(n); w.Next(); {
		text := strings.TrimSpace(w.Node.Data)
		if w.Node.Type != html.TextNode || text == "" {
			continue
		}
		last, _ := utf8.DecodeLastRuneInString(f.b.String())
		if unicode.IsDigit(last) && strings.IndexFunc(text, unicode.IsDigit) == 0 {
			f.gap = gapNone
			f.put(f.raised)
		}
		return
	}
}

// formula writes an element in the form of Markdown if it is a formula, and reports whether it is.
func (f *folder) formula(n *html.Node) bool {
	tex, display, ok := formula(n)
	if !ok {
		return false
	}
	if display {
		f.gap = gapLine
	}
	f.write(dollars(tex, display))
	if display {
		f.gap = gapLine
	}
	return true
}

// isSilent reports whether an element does not show its text.
func isSilent(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script:
		return !isTeX(n)
	case atom.Noscript:
		return !holdsPicture(n)
	case atom.Style, atom.Template, atom.Noframes, atom.Iframe,
		atom.Noembed, atom.Textarea, atom.Title, atom.Svg, atom.Head:
		return true
	}
	return false
}

// gap is the separator between the text written so far and the next word.
type gap uint8

const (
	gapNone gap = iota
	gapSpace
	gapLine
)

func gapOf(n *html.Node) gap {
	switch {
	case n.DataAtom == atom.Br || isBlock(n) && !isCell(n):
		return gapLine
	case isCell(n) || n.DataAtom == atom.Button || n.DataAtom == atom.Select || n.DataAtom == atom.Input:
		return gapSpace
	}
	return gapNone
}

func isCell(n *html.Node) bool { return n.DataAtom == atom.Td || n.DataAtom == atom.Th }

// isBlock reports whether an element starts a line: those whose default style is display block,
// list-item or any of tables (HTML standard, section 15.3).
func isBlock(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	switch n.DataAtom {
	case atom.P, atom.Div, atom.Li, atom.Tr, atom.Td, atom.Th, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6,
		atom.Ul, atom.Ol, atom.Dl, atom.Dt, atom.Dd, atom.Table, atom.Thead, atom.Tbody, atom.Tfoot, atom.Caption,
		atom.Pre, atom.Hr, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Nav, atom.Main, atom.Aside,
		atom.Address, atom.Blockquote, atom.Center, atom.Details, atom.Dialog, atom.Fieldset, atom.Figcaption,
		atom.Figure, atom.Form, atom.Hgroup, atom.Legend, atom.Listing, atom.Menu, atom.Summary, atom.Xmp,
		atom.Optgroup, atom.Option, atom.Body, atom.Html:
		return true
	case 0:
		return n.Data == "search" || n.Data == "dir"
	}
	return false
}

// folder collects text with its whitespace folded.
type folder struct {
	b   strings.Builder
	gap gap

	formulas bool
	raised   string
}

// write adds text. It folds ASCII whitespace and the no-break space, and drops NUL and characters
// that only mark possible word breaks.
func (f *folder) write(s string) {
	for word, space := range wordsOf(s) {
		f.put(word)
		if space {
			f.gap = max(f.gap, gapSpace)
		}
	}
}

// wordsOf yields the words of a text, some of them empty, and whether a space follows.
func wordsOf(s string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		start := 0
		for i := 0; i < len(s); {
			size, space := spaceAt(s, i)
			if size == 0 {
				i++
				continue
			}
			if !yield(s[start:i], space) {
				return
			}
			i += size
			start = i
		}
		yield(s[start:], false)
	}
}

func (f *folder) put(run string) {
	if run == "" {
		return
	}
	if f.b.Len() > 0 {
		switch f.gap {
		case gapSpace:
			f.b.WriteByte(' ')
		case gapLine, gapBlank:
			f.b.WriteByte('\n')
		case gapNone:
		}
	}
	f.gap = gapNone
	f.b.WriteString(run)
}

// spaceAt returns the number of bytes at s[i] that are not part of a word, and whether they
// separate words.
func spaceAt(s string, i int) (size int, space bool) {
	switch s[i] {
	case ' ', '\t', '\n', '\f', '\r':
		return 1, true
	case 0:
		return 1, false
	case 0xc2:
		if i+1 < len(s) && s[i+1] == 0xa0 {
			return 2, true
		}
		if i+1 < len(s) && s[i+1] == 0xad { // a soft hyphen
			return 2, false
		}
	case 0xe2, 0xef:
		return breakAt(s, i), false
	}
	return 0, false
}

// breakAt returns the length of a character at s[i] that only allows or prevents a line break, or
// 0. In scripts without spaces, such as Khmer, such characters separate words and are kept.
func breakAt(s string, i int) int {
	rest := s[i:]
	switch {
	case strings.HasPrefix(rest, "\u2060"), strings.HasPrefix(rest, "\ufeff"): // word joiner, and its deprecated form
		return 3
	case strings.HasPrefix(rest, "\u200b"):
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(rest[3:])
		if !isUnspaced(before) && !isUnspaced(after) {
			return 3
		}
	}
	return 0
}

// isUnspaced reports whether a letter is of a script without spaces between words: Thai, Lao,
// Tibetan, Myanmar, Khmer.
func isUnspaced(r rune) bool { return r >= 0x0e00 && r < 0x10a0 || r >= 0x1780 && r < 0x1800 }
