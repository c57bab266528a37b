package extract

import (
	"encoding/json"
	"regexp"
	"strings"

	"seine/internal/base/truncate"
)

var (
	// jsonNumber is a number as JSON has it (RFC 8259 section 6).
	jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	// written is the first number in a text: a sign, a currency sign perhaps, then
	// digits with separators between them.
	written = regexp.MustCompile(`(^|[^\pL\pN])([-−–]?)(?:\p{Sc} ?)?([-−]?)((?:[0-9]+(?:[.,'’ ][0-9]+)*)|[.,][0-9]+)`)
	// rounded is what takes the place of decimals that are zero: "1.299,-", "5.–", "7,--".
	rounded = regexp.MustCompile(`^[.,][-–—]`)
	// joined are digits that belong to a word, as in "v2.3" and "USD1,299": all of
	// them, so that no number begins in their middle.
	joined = regexp.MustCompile(`(\pL)[0-9]+(?:[.,'’][0-9]+)*`)
)

// maxNumber is how long a number may be, in bytes; longer ones are no quantities.
const maxNumber = 64

// maxBeforeNumber is how far a number is looked for in a text, in bytes: what has
// its first one behind that is no price.
const maxBeforeNumber = 64 << 10

// parseNumber returns the first number in a text as JSON has it, digit by digit
// as it is written. decimal is what separates its decimals, 0 if that is to be
// found out: of two different separators it is the second; one that is there
// several times separates thousands; a single comma before exactly three digits
// separates thousands, a point decimals; before a dash is what separates decimals.
func parseNumber(text string, decimal byte, integer bool) (json.Number, bool) {
	text = strings.TrimSpace(truncate.To(text, maxBeforeNumber))
	if len(text) <= maxNumber && jsonNumber.MatchString(text) && (decimal == '.' || !strings.Contains(text, ".") || decimal == 0 && !integer) {
		return asInteger(json.Number(text), integer)
	}
	text = joined.ReplaceAllString(strings.Map(plainSpace, text), "$1")
	m := written.FindStringSubmatch(text)
	if m == nil || len(m[4]) > maxNumber {
		return "", false
	}
	if _, after, _ := strings.Cut(text, m[0]); decimal == 0 && rounded.MatchString(after) {
		decimal = after[0]
	}
	whole, fraction, ok := split(m[4], decimal, integer)
	if !ok {
		return "", false
	}
	number := strings.TrimLeft(whole, "0")
	if number == "" {
		number = "0"
	}
	if fraction != "" {
		number += "." + fraction
	}
	if (m[2] != "" || m[3] != "") && strings.Trim(number, "0.") != "" {
		number = "-" + number
	}
	return asInteger(json.Number(number), integer)
}

// plainSpace makes the spaces that separate thousands one.
func plainSpace(r rune) rune {
	switch r {
	case '\u00a0', '\u202f', '\u2009', '\u2007':
		return ' '
	}
	return r
}

// asInteger refuses what is no whole number, if one is wanted, and what is too
// large for those who read numbers as IEEE 754 has them.
func asInteger(n json.Number, integer bool) (json.Number, bool) {
	if !integer {
		_, err := n.Float64()
		return n, err == nil
	}
	whole, fraction, _ := strings.Cut(n.String(), ".")
	if strings.ContainsAny(n.String(), "eE") || strings.Trim(fraction, "0") != "" {
		return "", false
	}
	if whole == "-0" {
		whole = "0"
	}
	return json.Number(whole), true
}

// split takes a number with separators apart.
func split(s string, decimal byte, integer bool) (whole, fraction string, ok bool) {
	s = cutSpaces(s)
	if decimal == 0 {
		decimal = findDecimal(s, integer)
	}
	whole = s
	if decimal != 0 {
		if i := strings.IndexByte(s, decimal); i >= 0 {
			whole, fraction = s[:i], s[i+1:]
		}
	}
	if fraction != "" && strings.Trim(fraction, "0123456789") != "" {
		return "", "", false
	}
	if whole != "" && (whole[0] == '.' || whole[0] == ',') { // what separates no decimals here
		return "", "", false
	}
	groups := strings.FieldsFunc(whole, func(r rune) bool { return r < '0' || r > '9' })
	for i, g := range groups[min(1, len(groups)):] { // in India, groups but the last have two digits
		if len(g) != 3 && (len(g) != 2 || i == len(groups)-2) {
			return "", "", false
		}
	}
	return strings.Join(groups, ""), fraction, true
}

// cutSpaces ends a number at a space or an apostrophe that does not separate
// thousands: "12 34" are two numbers.
func cutSpaces(s string) string {
	for i, r := range s {
		if r != ' ' && r != '\'' && r != '’' {
			continue
		}
		group := s[i+len(string(r)):]
		digits := strings.IndexFunc(group, func(r rune) bool { return r < '0' || r > '9' })
		if digits < 0 {
			digits = len(group)
		}
		if digits != 3 || i > 3 && !strings.ContainsAny(s[:i], " '’") || i == 0 {
			return s[:i]
		}
	}
	return s
}

// findDecimal finds out what separates the decimals, 0 if nothing does.
func findDecimal(s string, integer bool) byte {
	last := strings.LastIndexAny(s, ".,")
	if last < 0 {
		return 0
	}
	sep, other := s[last], byte('.'+','-s[last])
	switch n := strings.Count(s, string(sep)); {
	case strings.IndexByte(s, other) >= 0:
		if n > 1 {
			return other // as in "1.234,567,890", which is nothing
		}
		return sep
	case n > 1:
		return 0
	}
	thousands := len(s)-last-1 == 3 && last > 0 && last <= 3 && s[0] != '0'
	if thousands && (sep == ',' || integer) {
		return 0
	}
	return sep
}
