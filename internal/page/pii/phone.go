package pii

import (
	"regexp"
	"strings"

	"seine/internal/base/lazyregexp"
)

// Limits of digits, by ITU-T E.164: at most 15 with the country code; the shortest numbers have 8.
// National numbers have 9 to 12 with the leading zero; shorter ones cannot be distinguished from
// other numbers.
const (
	minInternational = 8
	maxInternational = 15
	minNational      = 9
	maxNational      = 12
	minCued          = 5
)

// phone finds a phone number at i: a digit, a plus sign or a bracket.
func phone(s string, i int) span {
	if !numberMayBegin(s, i) || few(s, i, minCued) {
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

// numberMayBegin reports whether a number may begin at i: not within a word, an address or another
// number.
func numberMayBegin(s string, i int) bool {
	before := byteBefore(s, i)
	return !wordByte(before) && (before == 0 || strings.IndexByte(".-/@#+$&%,^", before) < 0) && (s[i] == '+' || !digitBefore(s, i))
}

// international reads the number after a plus sign. If the digits of other numbers follow, it uses
// the most groups that fit.
func international(s string, i int) int {
	if i < len(s) && s[i] == '(' {
		i++
	}
	all := groupsAt(s, i, " -./()")
	for n := all.n; n > 0; n-- {
		g := all.cut(n)
		if g.total > maxInternational+1 || !endsAt(s, g.last()) { // one more for "(0)"
			continue
		}
		if g.total < minInternational || g.all[0] == '0' || decimal(&g) {
			return 0
		}
		if g.all[0] == '1' && (g.total != 11 || g.all[1] < '2') {
			continue // North America has ten digits after the 1
		}
		return g.last()
	}
	return 0
}

// decimal reports whether groups form a large number, "1.000.000", "1 000 000", or one with a
// fraction, "48.858370".
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

// national reads a number without a plus sign. cued means that a word for a phone precedes it. The
// number may end where another may begin, as after " - ".
func national(s string, i int, cued bool) int {
	start, bracket := i, s[i] == '('
	if bracket {
		i++
	}
	if i >= len(s) || !digit(s[i]) {
		return 0
	}
	all := groupsAt(s, i, " -./()")
	if bracket && !strings.HasPrefix(all.before[1], ")") {
		return 0
	}
	for n := all.n; n > 0; n-- {
		g := all.cut(n)
		switch {
		case n < all.n && !numberMayBegin(s, g.last()+len(all.before[n])), !endsAt(s, g.last()), dated(&g):
		case cued && g.total >= minCued && g.total <= maxInternational+2, n > 1 && isForm(s[start:g.last()], g.total):
			return g.last()
		}
	}
	return 0
}

// forms are the forms of national numbers, with their numbers of digits. "_" stands for a separator
// of groups, "~" for one other than a dot.
var forms = []struct {
	form     func() *regexp.Regexp
	min, max int
}{
	// "(212) 555-0123", "212-555-0123", "212.555.0123" and those with 1 before; neither area nor exchange begin with 0 or 1.
	{form(`\((?:1_)?[2-9]\d\d_[2-9]\d\d_\d{4}`), 10, 11},
	{form(`1-[2-9]\d\d_[2-9]\d\d-\d{4}`), 11, 11},
	{form(`(?:1_)?[2-9]\d\d(?:-[2-9]\d\d-|\.[2-9]\d\d\.)\d{4}`), 10, 11},
	// A prefix of one digit and an area code in brackets: "1 (800) 555-0199", "8 (495) 123-45-67", "0 (532) 123 45 67". The
	// volume, year and pages of a journal are written like that too: "8 (1998) 123-134".
	{form(`\(?0~?\([1-9]\d*\)~?\d+(?:~\d+)*`), minNational, maxNational},
	{form(`\(?1~?\([2-9]\d\d\)~?[2-9]\d\d~\d{4}`), 11, 11},
	{form(`\(?8~?\((?:[34789]\d{2,4}|0\d\d)\)~?\d+(?:~\d+)*`), 11, 11},
	// "8 800 555-35-35" and "8-495-123-45-67", as in Russia, Kazakhstan or, with a zero, Belarus.
	{form(`\(?8~[034789]\d\d~\d{3}~\d\d~\d\d`), 11, 11},
	// "0049 30 1234567".
	{form(`\(?0~?0~?[1-9]\d*(?:~\d+)*`), minInternational + 3, maxInternational + 2},
	// With a leading zero: "030/1234567", "020 7946 0958", "01.23.45.67.89".
	{form(`\(?0[1-9]\d{0,4}(?:~\d+)+`), minNational, maxNational},
	{form(`\(?0[1-9](?:_\d\d){4}`), minNational, maxNational},
}

func form(text string) func() *regexp.Regexp {
	const marks = `-/() \x{a0}\x{202f}\x{2010}\x{2011}\x{2013}`
	return lazyregexp.New("^" + strings.NewReplacer("_", "(?:["+marks+".]{1,3})", "~", "(?:["+marks+"]{1,3})").Replace(text) + "$")
}

// isForm reports whether a number has the form of a national one.
func isForm(text string, digits int) bool {
	for _, f := range forms {
		if digits >= f.min && digits <= f.max && f.form().MatchString(text) {
			return true
		}
	}
	return false
}

// dated reports whether a number begins with a date: 01.02.2026, 2026-01-02.
func dated(g *groups) bool {
	if g.n < 3 {
		return false
	}
	first := g.cut(3)
	same := g.before[1] == g.before[2] && strings.Trim(g.before[1], "./-") == ""
	return same && (first.sizes(2, 2, 4) || first.sizes(1, 2, 4) || first.sizes(2, 1, 4) || first.sizes(4, 2, 2))
}
