package document

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/css"
	"seine/internal/page/htmlpage"
	"seine/internal/page/mediatype"
)

// Text returns the text of the document: of a page what a reader sees, as its
// record has it; of anything else the body.
func (d *Document) Text() (string, error) {
	return d.text.get(func() (string, error) {
		if d.Type.Class != mediatype.HTML {
			return string(d.Body()), nil
		}
		page, err := htmlpage.Scan(d.Body(), d.URL, "text/html; charset=utf-8", htmlpage.Options{XML: d.IsXHTML()})
		return page.Text, err
	})
}

// TextOf returns the text in a node, white space folded to single spaces. Blocks,
// cells and line breaks are apart by a space. What is in a script, style,
// template or noscript element is left out, unless n is one itself.
func TextOf(n *html.Node) string {
	var f folder
	f.node(n, true)
	return f.String()
}

// Raised separates digits from raised or small ones behind them in a text of NumberText.
const Raised = "¤"

// NumberText is TextOf for a number, in which the cents of a price may be raised:
// 12<sup>99</sup>.
func NumberText(n *html.Node) string {
	f := folder{raised: true}
	f.node(n, true)
	return f.String()
}

// RawText returns all the text in a node, as it is: the textContent of the DOM
// standard. Of a template element, it is the text that it holds.
func RawText(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	if c := n.FirstChild; c != nil && c.NextSibling == nil && c.Type == html.TextNode {
		return c.Data
	}
	var b strings.Builder
	for c := range css.Descendants(n) {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// Fold folds white space to single spaces, and trims it.
func Fold(s string) string {
	var f folder
	f.add(s)
	return f.String()
}

// folder collects text with its white space folded. A text without white space
// to fold is not copied.
type folder struct {
	one   string // the only text so far, folded
	b     strings.Builder
	space bool // between what is there and what comes

	raised bool // write Raised before digits that are
}

func (f *folder) String() string {
	if f.b.Len() == 0 {
		return f.one
	}
	return f.b.String()
}

func (f *folder) node(n *html.Node, top bool) {
	switch {
	case n.Type == html.TextNode:
		f.add(n.Data)
		return
	case n.Type == html.ElementNode && !top && hidden[n.DataAtom]:
		return
	case n.Type == html.ElementNode && apart[n.DataAtom]:
		f.space = true
		defer func() { f.space = true }()
	case f.raised && (n.DataAtom == atom.Sup || n.DataAtom == atom.Small):
		f.raise(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling { // a DOM is at most 512 deep
		f.node(c, false)
	}
}

func (f *folder) add(s string) {
	for len(s) > 0 {
		word := strings.IndexFunc(s, notSpace)
		if word != 0 {
			f.space = true
		}
		if word < 0 {
			return
		}
		s = s[word:]
		end := endOfRun(s)
		f.word(s[:end])
		s = s[end:]
	}
}

// endOfRun returns the end of what can be copied from the start of s: up to white
// space that is not one space between two ASCII characters.
func endOfRun(s string) int {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c > ' ' && c < utf8.RuneSelf:
			i++
		case c == ' ' && i+1 < len(s) && s[i+1] > ' ' && s[i+1] < utf8.RuneSelf:
			i += 2
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			if unicode.IsSpace(r) {
				return i
			}
			i += n
		}
	}
	return len(s)
}

// raise separates the digits of an element from those before it.
func (f *folder) raise(n *html.Node) {
	before, text := f.String(), strings.TrimSpace(RawText(n))
	if last, _ := utf8.DecodeLastRuneInString(before); unicode.IsDigit(last) && strings.IndexFunc(text, unicode.IsDigit) == 0 {
		f.space = false
		f.word(Raised)
	}
}

func notSpace(r rune) bool { return !unicode.IsSpace(r) }

func (f *folder) word(s string) {
	if f.one == "" && f.b.Len() == 0 {
		f.one, f.space = s, false
		return
	}
	if f.b.Len() == 0 {
		f.b.WriteString(f.one)
	}
	if f.space {
		f.b.WriteByte(' ')
	}
	f.b.WriteString(s)
	f.space = false
}

// hidden are elements whose text is not for readers.
var hidden = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Template: true, atom.Noscript: true,
}

// apart are elements whose text is apart from what is around them.
var apart = map[atom.Atom]bool{
	atom.Address: true, atom.Article: true, atom.Aside: true, atom.Blockquote: true, atom.Br: true, atom.Caption: true,
	atom.Dd: true, atom.Details: true, atom.Dialog: true, atom.Div: true, atom.Dl: true, atom.Dt: true, atom.Fieldset: true,
	atom.Figcaption: true, atom.Figure: true, atom.Footer: true, atom.Form: true, atom.H1: true, atom.H2: true, atom.H3: true,
	atom.H4: true, atom.H5: true, atom.H6: true, atom.Header: true, atom.Hgroup: true, atom.Hr: true, atom.Legend: true,
	atom.Li: true, atom.Main: true, atom.Menu: true, atom.Nav: true, atom.Ol: true, atom.Optgroup: true, atom.Option: true,
	atom.P: true, atom.Pre: true, atom.Search: true, atom.Section: true, atom.Summary: true, atom.Table: true, atom.Tbody: true,
	atom.Td: true, atom.Tfoot: true, atom.Th: true, atom.Thead: true, atom.Tr: true, atom.Ul: true,
}
