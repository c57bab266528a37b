package pii

import "strings"

// ibanLength is the length of account numbers by country, from the SWIFT registry (ISO 13616).
var ibanLength = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29, "BY": 28,
	"CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
	"FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HN": 28, "HR": 21, "HU": 28,
	"IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
	"LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28,
	"NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24,
	"SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26,
	"UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}

// iban finds an account number whose two letters precede the digit at i. It has no separators, or
// groups separated by one space or hyphen, in upper or lower case.
func iban(s string, i int) span {
	start := i - 2
	if start < 0 || !letter(s[start]) || !letter(s[start+1]) || start > 0 && wordByte(s[start-1]) {
		return span{}
	}
	country := strings.ToUpper(s[start:i])
	length := ibanLength[country]
	if length == 0 {
		return span{}
	}
	sum := ibanSum{}
	end := i
	for n := 2; n < length; {
		if end >= len(s) {
			return span{}
		}
		switch c := s[end]; {
		case digit(c) || letter(c) && n >= 4:
			sum.add(capital(c), n < 4)
			n++
			end++
		case separator(s, end) > 0 && !(end > i && separator(s, end-1) == 1):
			end += separator(s, end)
		default:
			return span{}
		}
	}
	if end < len(s) && wordByte(s[end]) || !sum.right(country) {
		return span{}
	}
	return span{start, end, IBAN}
}

// capital returns the capital of a letter, and other bytes unchanged.
func capital(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// separator returns the length of the space or hyphen at i, including non-breaking ones, or 0.
func separator(s string, i int) int {
	switch {
	case i >= len(s):
		return 0
	case s[i] == ' ' || s[i] == '-':
		return 1
	case i+1 < len(s) && s[i:i+2] == "\u00a0":
		return 2
	case i+2 < len(s) && (s[i:i+3] == "\u202f" || s[i:i+3] == "\u2011" || s[i:i+3] == "\u2010" || s[i:i+3] == "\u2013"):
		return 3
	}
	return 0
}

// ibanSum computes the checksum, modulo 97 (ISO 7064), of the account, the country and the two
// check digits.
type ibanSum struct{ account, check int }

func (m *ibanSum) add(c byte, check bool) {
	if check {
		m.check = m.check*10 + int(c-'0')
		return
	}
	m.account = modulo97(m.account, c)
}

func modulo97(sum int, c byte) int {
	if digit(c) {
		return (sum*10 + int(c-'0')) % 97
	}
	return (sum*100 + int(c-'A') + 10) % 97
}

func (m *ibanSum) right(country string) bool {
	sum := modulo97(modulo97(m.account, country[0]), country[1])
	return m.check >= 2 && m.check <= 98 && (sum*100+m.check)%97 == 1
}
