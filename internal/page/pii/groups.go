package pii

import "strings"

// Limits of a number in groups: a card has up to 19 digits and 5 groups, a phone number up to 17
// digits with its prefix.
const (
	maxDigits = 20
	maxGroups = 9
)

// groups is a number written in groups of digits.
type groups struct {
	all    [maxDigits]byte // the digits
	total  int             // number of digits
	size   [maxGroups]int
	end    [maxGroups]int    // position in the text
	before [maxGroups]string // separator before each group
	n      int
}

// groupsAt reads the groups at i, as long as one of the separators and another group follow. It
// stops at the limits.
func groupsAt(s string, i int, separators string) groups {
	var g groups
	gap := ""
	for g.n < maxGroups {
		from := i
		for i < len(s) && digit(s[i]) {
			i++
		}
		if i == from || g.total+i-from > maxDigits {
			break
		}
		g.total += copy(g.all[g.total:], s[from:i])
		g.size[g.n], g.end[g.n], g.before[g.n] = i-from, i, gap
		g.n++
		next := gapEnd(s, i, separators)
		gap, i = s[i:next], next
	}
	return g
}

// digits returns all digits.
func (g *groups) digits() string { return string(g.all[:g.total]) }

// few is a fast check for fewer than n digits at i and in the groups that may follow, as for most
// numbers in a text.
func few(s string, i, n int) bool {
	for gap := 0; i < len(s) && gap <= 3 && n > 0; i++ {
		switch c := s[i]; {
		case digit(c):
			n--
			gap = 0
		case c >= 0x80 || strings.IndexByte("+ -./()", c) >= 0:
			gap++
		default:
			return true
		}
	}
	return n > 0
}

// gapEnd returns the end of a gap between groups at i: up to three characters, as in ") " and " -
// ". It returns i if there is none.
func gapEnd(s string, i int, separators string) int {
	end := i
	for n := 0; n < 3 && end < len(s); n++ {
		switch {
		case s[end] < 0x80 && strings.IndexByte(separators, s[end]) >= 0:
			end++
		case s[end] >= 0x80 && separator(s, end) > 0:
			end += separator(s, end)
		default:
			n = 3
		}
	}
	return end
}

// cut returns the first n groups.
func (g groups) cut(n int) groups {
	g.n, g.total = n, 0
	for _, size := range g.size[:n] {
		g.total += size
	}
	return g
}

// last returns the end of the last group.
func (g *groups) last() int { return g.end[g.n-1] }

// sizes reports whether the groups have these sizes.
func (g *groups) sizes(want ...int) bool {
	if len(want) != g.n {
		return false
	}
	for i, size := range want {
		if g.size[i] != size {
			return false
		}
	}
	return true
}
