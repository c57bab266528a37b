package pii

import "strings"

// minCard is the number of digits of the shortest card number.
const minCard = 14

// card finds a payment card number at i: without separators, or in groups as on the card, with one
// space or hyphen between them.
func card(s string, i int) span {
	if before := byteBefore(s, i); before == '.' || before == '-' || before == '/' || before == ',' {
		return span{}
	}
	if few(s, i, minCard) {
		return span{}
	}
	all := groupsAt(s, i, " -")
	for n := min(all.n, 5); n > 0; n-- {
		g := all.cut(n)
		if g.total >= minCard && grouped(&g) && issued(g.digits()) && luhn(g.digits()) && endsAt(s, g.last()) && !(n < all.n && all.size[n] == 4 && n > 1) {
			return span{i, g.last(), Card}
		}
	}
	return span{}
}

// grouped reports whether a number is grouped like a card number.
func grouped(g *groups) bool {
	for _, gap := range g.before[1:g.n] {
		if gap == "" || separator(gap, 0) != len(gap) || gap != g.before[1] {
			return false
		}
	}
	return g.n == 1 || g.sizes(4, 4, 4, 4) || g.sizes(4, 4, 4, 4, 3) || g.sizes(4, 6, 5) || g.sizes(4, 6, 4)
}

// issuers are the number ranges of cards, by their first four digits.
var issuers = []struct {
	first, last string
	min, max    int
}{
	{"2200", "2204", 16, 19}, // Mir
	{"2221", "2720", 16, 16}, // Mastercard
	{"3000", "3059", 14, 19}, // Diners Club
	{"3400", "3499", 15, 15}, // American Express
	{"3528", "3589", 16, 19}, // JCB
	{"3600", "3699", 14, 19}, // Diners Club
	{"3700", "3799", 15, 15}, // American Express
	{"3800", "3999", 14, 19}, // Diners Club
	{"4000", "4999", 16, 16}, // Visa
	{"5018", "5038", 16, 16}, // Maestro
	{"5100", "5599", 16, 16}, // Mastercard
	{"6011", "6011", 16, 19}, // Discover
	{"6200", "6299", 16, 19}, // UnionPay
	{"6304", "6304", 16, 19}, // Maestro
	{"6440", "6599", 16, 19}, // Discover
	{"6759", "6763", 16, 19}, // Maestro
}

func issued(digits string) bool {
	if strings.Trim(digits, digits[:1]) == "" {
		return false
	}
	for _, r := range issuers {
		if digits[:4] >= r.first && digits[:4] <= r.last {
			return len(digits) >= r.min && len(digits) <= r.max
		}
	}
	return false
}

// luhn reports whether the check digit is correct (ISO/IEC 7812-1, annex B).
func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
