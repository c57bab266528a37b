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
	// jsonNumber is a number in JSON (RFC 8259 section 6).
	jsonNumber = lazyregexp.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	// written is the first number in a text: an optional sign and currency sign, then digits with
	// separators.
	written = lazyregexp.New(`(^|[^\pL\pN])([-−–]?)(?:\p{Sc} ?)?([-−]?)((?:[0-9]+(?:[.,' ][0-9]+)*)|[.,][0-9]+)`)
	// rounded replaces decimals that are zero: "1.299,-", "5.–", "7,--".
	rounded = lazyregexp.New(`^[.,][-–—]`)
	// joined matches all digits of a word such as "v2.3" or "USD1,299", so that no number begins in
	// their middle.
	joined = lazyregexp.New(`((?:^|[^0-9])\pL)[0-9]+(?:[.,'][0-9]+)*`)
	// price is the first number, or the first range of two, next to a currency sign. It takes
	// precedence over a number without one, as in "3 for $5" and "Model 12 $999".
	price = lazyregexp.New(`(?:^|[^\pL\pN])(?:([-−–]?\p{Sc} ?[-−]?[.,]?[0-9])|` +
		`([-−–]?[.,]?[0-9][0-9.,' ]*(?:(?:[-–—]|to|bis|à) ?[0-9][0-9.,' ]*)?(?:[-–—]+ ?)?)(?:` + document.Raised + `|\p{Sc}(?:[^0-9]|$)))`)
	// quantity is a number of pieces before the price of one.
	quantity = lazyregexp.New(`^[0-9]{1,3} ?[xX×*] ?([0-9][0-9.,' ]*[.,][0-9]{2}(?:\PN|$))`)
	// cents are two digits after the currency sign, as in "12€50", or raised digits.
	cents = lazyregexp.New(`^(?:(\P{Sc}*[0-9]) ?\p{Sc} ?([0-9]{2})$|(\P{Sc}*[0-9])\p{Sc}([0-9]{2})[^\pN.,%]|([^¤]*[0-9])` + document.Raised + `([0-9]{2})(?:[^\pN.,%]|$))`)
	// negative is an amount below zero in accounting notation: "(1,234.50)", "12.50-".
	negative = lazyregexp.New(`^(?:\p{Sc} ?)?\( ?(\p{Sc} ?[0-9][0-9.,' ]*|[0-9][0-9.,' ]*[.,][0-9]{2})(?: ?\p{Sc})? ?\)(?: ?\p{Sc})?$|` +
		`^((?:\p{Sc} ?)?[0-9][0-9.,' ]*[.,][0-9]{2})[-−]$`)
	// unread marks digits that are another number or none: "0x10", "12:30", "1½", "1_000", "1.5k",
	// "3 million".
	unread = lazyregexp.New(`^(?: ?[xX×] ?[0-9]|[eEhHoObB][-+]?[0-9]|[:_][0-9]| ?[¼-¾⅐-⅞]|[kKM](?:\PL|$)|` +
		` ?(?:[mM]illi|[bB]illi|[mM]ilj|[mM]io|[mM]rd|[tT]sd|[tT]ausend|thousand|lakh|crore|mln|mld|mlr|tys|тыс|млн|млрд|[万萬億亿천만억])|[千百])`)
	// thousands is a currency whose countries write a point between thousands, and at most two
	// decimals.
	thousands = lazyregexp.New(`[€₫₺₽₴]`)
)

// maxNumber is the maximum length of a number, in bytes; longer ones are not quantities.
const maxNumber = 64

// maxBeforeNumber bounds the search for a number in a text, in bytes: a number after that is not a
// price.
const maxBeforeNumber = 64 << 10

// numberOf converts a value to a number. A JSON number stays unchanged, and a text is parsed as
// people write numbers.
func numberOf(v any, decimal byte, integer bool) (json.Number, bool) {
	if text, ok := v.(string); ok {
		return parseNumber(text, decimal, integer)
	}
	return asNumber(textOfValue(v), integer)
}

// parseNumber returns the first number in a text in JSON notation, with the digits as written. A
// number with a currency sign takes precedence. decimal is the decimal separator. If it is 0,
// parseNumber infers it. Of two different separators, the second is the decimal one. A separator
// that occurs several times separates thousands. A single comma before exactly three digits
// separates thousands. A single point separates decimals, except in amounts of currencies such as
// euros. A separator before a dash separates decimals.
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

// plainAmount returns the text from its amount on, with cents after a separator. below reports
// whether the notation is for a negative amount.
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

// separators replaces separators of other scripts and variants of the apostrophe by ASCII.
var separators = strings.NewReplacer("٬", ",", "’", "'", "‘", "'", "`", "'", "´", "'", "ʼ", "'", "′", "'")

// asNumber returns a number in JSON notation. It reports whether the number is in the range of IEEE
// 754 and, if integer is set, whole.
func asNumber(text string, integer bool) (json.Number, bool) {
	f, err := json.Number(text).Float64()
	if err != nil || !jsonNumber().MatchString(text) {
		return "", false
	}
	if !integer {
		return json.Number(text), true
	}
	if mantissa, _, _ := strings.Cut(strings.ToLower(text), "e"); f == 0 || len(text) > maxBeforeNumber { // with any exponent
		return "0", strings.Trim(mantissa, "-.0") == ""
	}
	r, _ := new(big.Rat).SetString(text)
	return json.Number(r.Num().String()), r.IsInt()
}

// split splits a number with separators into its whole part and its decimals.
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
	if whole != "" && (whole[0] == '.' || whole[0] == ',') { // not a decimal separator here
		return "", "", false
	}
	groups := strings.FieldsFunc(whole, func(r rune) bool { return r < '0' || r > '9' })
	if len(groups) > 1 && groups[0][0] == '0' { // a leading zero has no thousands
		return "", "", false
	}
	for i, g := range groups[min(1, len(groups)):] { // in India, all groups but the last have two digits
		if len(g) != 3 && (len(g) != 2 || i == len(groups)-2) {
			return "", "", false
		}
	}
	return strings.Join(groups, ""), fraction, true
}

// cutSpaces ends a number at a space or an apostrophe that does not separate thousands: "12 34" is
// two numbers.
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

// findDecimal infers the decimal separator, 0 if there is none.
func findDecimal(s string, integer bool) byte {
	last := strings.LastIndexAny(s, ".,")
	if last < 0 {
		return 0
	}
	sep, other := s[last], byte('.'+','-s[last])
	switch n := strings.Count(s, string(sep)); {
	case strings.IndexByte(s, other) >= 0:
		if n > 1 {
			return other // as in "1.234,567,890", which is invalid
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
