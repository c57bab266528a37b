package htmlpage

// ruby is the state within a ruby element (section 4.5.10). In the text of a page, each reading
// follows its base in parentheses: those of the page's rp elements, or otherwise of the scan.
type ruby uint8

const (
	rubyNone       ruby = iota
	rubyParens          // the page has parentheses
	rubyReadingDue      // a reading begins with the next word
	rubyReading         // in a reading without parentheses
)

// openRuby reads the start tag of a ruby element or of a part of one. It ends the preceding
// reading.
func (s *scanner) openRuby(e element) {
	s.endReading()
	switch {
	case e == elemRuby:
		s.ruby = rubyNone
	case e == elemReadingParen:
		s.ruby = rubyParens
	case s.ruby != rubyParens:
		s.ruby = rubyReadingDue
	}
}

func (s *scanner) endReading() {
	switch s.ruby {
	case rubyReading:
		s.ruby = rubyNone
		s.write([]byte{')'}, false)
	case rubyReadingDue:
		s.ruby = rubyNone
	default:
	}
}
