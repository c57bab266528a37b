package pii

import "strings"

// Numbers of digits, by ITU-T E.164: at most 15 with the country code, and the
// shortest have 8. National numbers have 9 to 12 with the leading zero; shorter
// ones are not told from others.
const (
	minInternational = 8
	maxInternational = 15
	minNational      = 9
	maxNational      = 12
	minCued          = 5
)

// phone finds a phone number at i: a digit, a plus sign or a bracket.
func phone(s string, i int) span {
	before := byteBefore(s, i)
	if wordByte(before) || before == '.' || before == '-' || before == '/' || before == '@' || before == '#' || before == '+' ||
		before == '$' || before == '&' || before == '%' || before == ',' || before == '^' {
		return span{}
	}
	if few(s, i, minCued) || s[i] != '+' && digitBefore(s, i) {
		return span{}
	}
	word := wordBefore(s, i)
	if otherNumber(word) {
		return span{}
	}
	end := 0
	switch {
	case s[i] == '+':
		end = international(s, i+1)
	case s[i] == '(' && strings.HasPrefix(s[i:], "(+"):
		end = international(s, i+2)
	default:
		end = national(s, i, phoneWord(word))
	}
	if end == 0 {
		return span{}
	}
	return span{i, end, Phone}
}

// international reads what follows a plus sign. If more numbers follow than one
// has, those that still fit are taken.
func international(s string, i int) int {
	if i < len(s) && s[i] == '(' {
		i++
	}
	all := groupsAt(s, i, " -./()")
	for n := all.n; n > 0; n-- {
		g := all.cut(n)
		if g.total > maxInternational+1 || !endsAt(s, g.last()) { // with a "(0)"
			continue
		}
		if g.total < minInternational || g.all[0] == '0' || decimal(&g) {
			return 0
		}
		if g.all[0] == '1' && (g.total != 11 || g.all[1] < '2') {
			continue // North America has ten digits after its 1
		}
		return g.last()
	}
	return 0
}

// decimal says that groups are those of a large number, "1.000.000", "1 000 000", or
// of one with a fraction, "48.858370".
func decimal(g *groups) bool {
	if g.n > 1 && g.before[1] == "." && g.size[1] < 9 && (g.n == 2 || g.before[2] != ".") {
		return true
	}
	if g.n < 3 || g.size[0] > 3 {
		return false
	}
	for i := 1; i < g.n; i++ {
		if g.size[i] != 3 || g.before[i] != g.before[1] {
			return false
		}
	}
	return strings.HasSuffix(g.digits(), "000")
}

// national reads a number without a plus sign; cued says that a word for a phone
// stands before.
func national(s string, i int, cued bool) int {
	bracket := s[i] == '('
	if bracket {
		i++
	}
	if i >= len(s) || !digit(s[i]) {
		return 0
	}
	g := groupsAt(s, i, " -./()")
	if g.n == 0 || !endsAt(s, g.last()) || dated(&g) {
		return 0
	}
	switch {
	case bracket && !strings.HasPrefix(g.before[1], ")"):
		return 0
	case cued && g.total >= minCued && g.total <= maxInternational+2:
		return g.last()
	case northAmerican(&g, bracket), abroad(&g), trunk(&g), bracketed(&g), russian(&g):
		return g.last()
	}
	return 0
}

// northAmerican knows "(212) 555-0123", "212-555-0123", "212.555.0123" and those
// with 1 before; neither area nor exchange begin with 0 or 1.
func northAmerican(g *groups, bracket bool) bool {
	first := 0
	if g.sizes(1, 3, 3, 4) && g.all[0] == '1' {
		first = 1
	} else if !g.sizes(3, 3, 4) {
		return false
	}
	gap := g.before[first+2]
	if g.all[first] < '2' || g.all[first+3] < '2' {
		return false
	}
	return bracket || first == 1 && g.before[1] == "-" && gap == "-" || g.before[first+1] == gap && (gap == "-" || gap == ".")
}

// bracketed knows numbers with a prefix of one digit and an area code in brackets:
// "1 (800) 555-0199", "8 (495) 123-45-67", "0 (532) 123 45 67". The volume, year and
// pages of a journal are written like that too: "8 (1998) 123-134".
func bracketed(g *groups) bool {
	if g.n < 3 || g.size[0] != 1 || !strings.HasSuffix(g.before[1], "(") || !strings.HasPrefix(g.before[2], ")") || dotted(g) {
		return false
	}
	switch g.all[0] {
	case '0':
		return g.all[1] != '0' && g.total >= minNational && g.total <= maxNational
	case '1':
		return g.sizes(1, 3, 3, 4) && g.all[1] >= '2' && g.all[4] >= '2'
	}
	return russianArea(g)
}

// russian knows "8 800 555-35-35" and "8-495-123-45-67".
func russian(g *groups) bool { return g.sizes(1, 3, 3, 2, 2) && russianArea(g) && !dotted(g) }

// russianArea says that a number has the prefix 8 and an area code as in Russia,
// Kazakhstan or, with a zero, Belarus. None begins as a year does.
func russianArea(g *groups) bool {
	area := g.size[1]
	return g.all[0] == '8' && g.total == 11 && area >= 3 && area <= 5 &&
		(strings.IndexByte("34789", g.all[1]) >= 0 || area == 3 && g.all[1] == '0')
}

// abroad knows "0049 30 1234567".
func abroad(g *groups) bool {
	return g.n > 1 && g.all[0] == '0' && g.all[1] == '0' && g.all[2] != '0' &&
		g.total >= minInternational+3 && g.total <= maxInternational+2 && !dotted(g)
}

// trunk knows national numbers with their leading zero: "030/1234567", "020 7946
// 0958", "01.23.45.67.89".
func trunk(g *groups) bool {
	return g.n > 1 && g.size[0] >= 2 && g.size[0] <= 6 && g.all[0] == '0' && g.all[1] != '0' &&
		g.total >= minNational && g.total <= maxNational && (!dotted(g) || g.sizes(2, 2, 2, 2, 2))
}

// dotted says that a dot is among the separators.
func dotted(g *groups) bool {
	for _, gap := range g.before[1:g.n] {
		if strings.Contains(gap, ".") {
			return true
		}
	}
	return false
}

// dated says that a number begins with a date: 01.02.2026, 2026-01-02.
func dated(g *groups) bool {
	if g.n < 3 {
		return false
	}
	first := g.cut(3)
	same := g.before[1] == g.before[2] && strings.Trim(g.before[1], "./-") == ""
	return same && (first.sizes(2, 2, 4) || first.sizes(1, 2, 4) || first.sizes(2, 1, 4) || first.sizes(4, 2, 2))
}
