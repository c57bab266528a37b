package extract

import (
	"encoding/json"
	"math/big"
	"strings"

	"seine/internal/base/ascii"
	"seine/internal/base/lazyregexp"
	"seine/internal/base/truncate"
	"seine/internal/page/document"
)

var (
	// jsonNumber is a number as JSON has it (RFC 8259 section 6).
	jsonNumber = lazyregexp.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	// written is the first number in a text: a sign, a currency sign perhaps, then
	// digits with separators between them.
	written = lazyregexp.New(`(^|[^\pL\pN])([-−–]?)(?:\p{Sc} ?)?([-−]?)((?:[0-9]+(?:[.,' ][0-9]+)*)|[.,][0-9]+)`)
	// rounded is what takes the place of decimals that are zero: "1.299,-", "5.–", "7,--".
	rounded = lazyregexp.New(`^[.,][-–—]`)
	// joined are digits that belong to a word, as in "v2.3" and "USD1,299": all of
	// them, so that no number begins in their middle.
	joined = lazyregexp.New(`((?:^|[^0-9])\pL)[0-9]+(?:[.,'][0-9]+)*`)
	// price is the first number, or the first range of two, beside a currency sign: it
	// takes precedence over a number without one, as in "3 for $5" and "Model 12 $999".
	price = lazyregexp.New(`(?:^|[^\pL\pN])(?:([-−–]?\p{Sc} ?[-−]?[.,]?[0-9])|` +
		`([-−–]?[.,]?[0-9][0-9.,' ]*(?:(?:[-–—]|to|bis|à) ?[0-9][0-9.,' ]*)?(?:[-–—]+ ?)?)(?:` + document.Raised + `|\p{Sc}(?:[^0-9]|$)))`)
	// quantity is a number of pieces before the price of one.
	quantity = lazyregexp.New(`^[0-9]{1,3} ?[xX×*] ?([0-9][0-9.,' ]*[.,][0-9]{2}(?:\PN|$))`)
	// cents are two digits behind the currency sign, as in "12€50", or raised digits.
	cents = lazyregexp.New(`^(?:(\P{Sc}*[0-9]) ?\p{Sc} ?([0-9]{2})$|(\P{Sc}*[0-9])\p{Sc}([0-9]{2})[^\pN.,%]|([^¤]*[0-9])` + document.Raised + `([0-9]{2})(?:[^\pN.,%]|$))`)
	// negative is an amount as accountants write one below zero: "(1,234.50)", "12.50-".
	negative = lazyregexp.New(`^(?:\p{Sc} ?)?\( ?(\p{Sc} ?[0-9][0-9.,' ]*|[0-9][0-9.,' ]*[.,][0-9]{2})(?: ?\p{Sc})? ?\)(?: ?\p{Sc})?$|` +
		`^((?:\p{Sc} ?)?[0-9][0-9.,' ]*[.,][0-9]{2})[-−]$`)
	// unread makes another number, or none, of the digits before it: "0x10", "12:30", "1½", "1_000", "1.5k", "3 million".
	unread = lazyregexp.New(`^(?: ?[xX×] ?[0-9]|[eEhHoObB][-+]?[0-9]|[:_][0-9]| ?[¼-¾⅐-⅞]|[kKM](?:\PL|$)|` +
		` ?(?:[mM]illi|[bB]illi|[mM]ilj|[mM]io|[mM]rd|[tT]sd|[tT]ausend|thousand|lakh|crore|mln|mld|mlr|tys|тыс|млн|млрд|[万萬億亿천만억])|[千百])`)
	// thousands is an amount of a currency whose countries write a point between thousands, and two decimals at most.
	thousands = lazyregexp.New(`[€₫₺₽₴]`)
)

// maxNumber is how long a number may be, in bytes; longer ones are no quantities.
const maxNumber = 64

// maxBeforeNumber is how far a number is looked for in a text, in bytes: what has
// its first one behind that is no price.
const maxBeforeNumber = 64 << 10

// numberOf converts a value to a number. A number of JSON stays as it is, and a text is read as
// people write numbers.
func numberOf(v any, decimal byte, integer bool) (json.Number, bool) {
	if text, ok := v.(string); ok {
		return parseNumber(text, decimal, integer)
	}
	return asNumber(textOfValue(v), integer)
}

// parseNumber returns the first number in a text as JSON has it, digit by digit
// as it is written; one with a currency sign takes precedence. decimal separates its decimals;
// 0 means that parseNumber finds it: of two different separators it is the second; one that
// occurs several times separates thousands; a single comma before exactly three digits
// separates thousands, a point decimals, except in an amount of, say, euros; the separator
// before a dash separates decimals.
func parseNumber(text string, decimal byte, integer bool) (json.Number, bool) {
	text = strings.TrimSpace(strings.Map(ascii.Plain, separators.Replace(truncate.To(text, maxBeforeNumber))))
	exact := !strings.Contains(text, ".") || decimal == '.' || decimal == 0 && (!integer || strings.ContainsAny(text, "eE"))
	if len(text) <= maxNumber && exact && jsonNumber().MatchString(text) {
		return asNumber(text, integer)
	}
	if strings.Contains(text, "٫") {
		text, decimal = strings.ReplaceAll(text, "٫", "."), '.'
	}
	text, below := plainAmount(joined().ReplaceAllString(text, "$1"), decimal)
	m := written().FindStringSubmatchIndex(text)
	if m == nil || m[9]-m[8] > maxNumber {
		return "", false
	}
	after := text[m[1]:]
	if decimal == 0 && rounded().MatchString(after) {
		decimal = after[0]
	}
	whole, fraction, ok := split(text[m[8]:m[9]], decimal, integer || thousands().MatchString(text))
	if !ok || unread().MatchString(after) {
		return "", false
	}
	number := strings.TrimLeft(whole, "0")
	if number == "" {
		number = "0"
	}
	if fraction != "" {
		number += "." + fraction
	}
	if (below || m[4] < m[5] || m[6] < m[7]) && strings.Trim(number, "0.") != "" {
		number = "-" + number
	}
	return asNumber(number, integer)
}

// plainAmount returns a text from its amount on, with cents behind a separator. below reports
// whether the amount is written as one below zero.
func plainAmount(text string, decimal byte) (amount string, below bool) {
	if m := negative().FindStringSubmatch(text); m != nil {
		text, below = m[1]+m[2], true
	}
	if m := price().FindStringSubmatchIndex(text); m != nil {
		text = text[max(m[2], m[4]):]
	}
	text = quantity().ReplaceAllString(text, "$1")
	if m := cents().FindStringSubmatch(text); m != nil {
		before, separator := m[1]+m[3]+m[5], "."
		if decimal == ',' || decimal == 0 && strings.Contains(before, ".") {
			separator = ","
		}
		text = before + separator + m[2] + m[4] + m[6]
	}
	return text, below
}

// separators writes separators of other scripts, and signs that stand for an apostrophe, as ASCII has them.
var separators = strings.NewReplacer("٬", ",", "’", "'", "‘", "'", "`", "'", "´", "'", "ʼ", "'", "′", "'")

// asNumber returns a number as JSON has it, and reports whether it is a whole one, if that is
// wanted, and in the range of IEEE 754.
func asNumber(text string, integer bool) (json.Number, bool) {
	f, err := json.Number(text).Float64()
	if err != nil || !jsonNumber().MatchString(text) {
		return "", false
	}
	if !integer {
		return json.Number(text), true
	}
	if mantissa, _, _ := strings.Cut(strings.ToLower(text), "e"); f == 0 || len(text) > maxBeforeNumber { // of any exponent
		return "0", strings.Trim(mantissa, "-.0") == ""
	}
	r, _ := new(big.Rat).SetString(text)
	return json.Number(r.Num().String()), r.IsInt()
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
	if len(groups) > 1 && groups[0][0] == '0' { // thousands of nothing
		return "", "", false
	}
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
		if r != ' ' && r != '\'' {
			continue
		}
		group := s[i+1:]
		digits := strings.IndexFunc(group, func(r rune) bool { return r < '0' || r > '9' })
		if digits < 0 {
			digits = len(group)
		}
		if digits != 3 || i > 3 && !strings.ContainsAny(s[:i], " '") || i == 0 {
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
