package article

import (
	"strconv"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// raised adds what is raised or lowered: as HTML where it would be taken for something else
// beside what is before it, as the exponent of a number.
func (s *spans) raised(n *html.Node, depth int) {
	if s.isPlainRaised(n) {
		s.children(n, depth)
		return
	}
	s.add(span{kind: spanRaw, text: "<" + n.Data + ">"})
	s.children(n, depth)
	s.push(span{kind: spanRaw, text: "</" + n.Data + ">"})
}

// isPlainRaised says whether the text of a raised element is clear without its place, or there
// is none: the ending of an ordinal, a sign, a reference, an index of a letter.
func (s *spans) isPlainRaised(n *html.Node) bool {
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
	return !word || n.DataAtom == atom.Sub && !unicode.IsNumber(s.before(len(s.list)))
}

// isEnding says whether a raised text is the ending of an ordinal or an abbreviation.
func isEnding(s string) bool {
	switch s {
	case "st", "nd", "rd", "th", "er", "re", "e", "ème", "o", "a", "TM", "tm", "SM", "R", "C":
		return true
	}
	return false
}

// formula adds a formula. In a cell, a bar would end that.
func (s *spans) formula(tex string, display bool) {
	text := dollars(tex, display)
	if s.cell {
		text = escapeBars(text)
	}
	if display {
		s.breakLine()
		s.rows = 2
	}
	s.add(span{kind: spanRaw, text: text})
	if display {
		s.breakLine()
		s.rows = 2
	}
}

// items adds a list that has to be inline: in a cell each item is a line with its mark.
func (s *spans) items(n *html.Node, depth int) {
	number := firstNumber(n)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if s.cell && c.DataAtom == atom.Li {
			s.breakLine()
			s.mark = "-"
			if n.DataAtom == atom.Ol {
				s.mark = strconv.Itoa(number) + "."
				number++
			}
		}
		s.collect(c, depth+1)
		s.mark = "" // of an item without a word
	}
}
