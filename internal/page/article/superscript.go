package article

import (
	"strconv"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// raisedSpans adds formulas, superscripts and subscripts.
type raisedSpans struct{ *spans }

// raised adds a superscript or subscript: as HTML if it would be misread next to the preceding
// text, such as the exponent of a number.
func (r raisedSpans) raised(n *html.Node, depth int) {
	if r.isPlainRaised(n) {
		r.children(n, depth)
		return
	}
	r.add(span{kind: spanRaw, text: "<" + n.Data + ">"})
	r.children(n, depth)
	r.push(span{kind: spanRaw, text: "</" + n.Data + ">"})
}

// isPlainRaised reports whether the text of a raised element is clear without its position, or
// empty: the ending of an ordinal, a sign, a reference, an index of a letter.
func (r raisedSpans) isPlainRaised(n *html.Node) bool {
	word, seen := false, 0
	for w := dom.Walk(n); w.Next() && seen < 64; seen++ {
		switch {
		case w.Node.DataAtom == atom.A || w.Node.DataAtom == atom.Img:
			return true
		case w.Node.Type == html.TextNode && !w.Leaving && hasWord(w.Node.Data):
			if isEnding(w.Node.Data) && w.Node.Parent == n && w.Node.NextSibling == nil {
				return true
			}
			word = true
		}
	}
	return !word || n.DataAtom == atom.Sub && !unicode.IsNumber(r.before(len(r.list)))
}

// isEnding reports whether a raised text is the ending of an ordinal or an abbreviation.
func isEnding(s string) bool {
	switch s {
	case "st", "nd", "rd", "th", "er", "re", "e", "ème", "o", "a", "TM", "tm", "SM", "R", "C":
		return true
	}
	return false
}

// formula adds a formula. In a cell it escapes bars.
func (r raisedSpans) formula(tex string, display bool) {
	text := dollars(tex, display)
	if r.cell {
		text = escapeBars(text)
	}
	if display {
		r.breakLine()
		r.rows = 2
	}
	r.add(span{kind: spanRaw, text: text})
	if display {
		r.breakLine()
		r.rows = 2
	}
}

// items adds a list that has to be inline: in a cell each item is a line with its mark.
func (r raisedSpans) items(n *html.Node, depth int) {
	number := firstNumber(n)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if r.cell && c.DataAtom == atom.Li {
			r.breakLine()
			r.mark = "-"
			if n.DataAtom == atom.Ol {
				r.mark = strconv.Itoa(number) + "."
				number++
			}
		}
		r.collect(c, depth+1)
		r.mark = "" // if the item had no word
	}
}
