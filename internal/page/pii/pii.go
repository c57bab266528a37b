// Package pii replaces personal data in text: e-mail addresses by [email], phone numbers by
// [phone], IP addresses by [ip], bank accounts by [iban], and payment card numbers by [card].
//
// Numbers with a checksum are masked only if it is correct (IBAN: ISO 13616 and ISO 7064; cards:
// ISO/IEC 7812 and the ranges of the issuers). Phone numbers have none, and are recognised by their
// form: international ("+49 30 1234567", "0044 20 7946 0958"), national with a leading zero or as
// in North America and with separators ("030/1234567", "(212) 555-0123"), or any form after a word
// for a phone ("Tel.: 5550123"). Dates, prices, ISBNs, versions and order numbers are not masked. A
// number of four parts under ten is a section number, not an address. Loopback and unspecified
// addresses and network masks do not identify a person, and stay.
//
// The filter is heuristic: it misses some data and masks some other text. It does not search for
// names and postal addresses, nor for forms that evade filters ("joe at example dot com"). Masking
// twice changes nothing. Time is linear in the length of the text. Memory is that of a copy, or
// none if nothing is found.
package pii

import (
	"slices"
	"strings"
)

// Kind is a kind of personal data, named by its text.
type Kind string

// The kinds.
const (
	Email Kind = "email"
	Phone Kind = "phone"
	IP    Kind = "ip"
	IBAN  Kind = "iban"
	Card  Kind = "card"
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Email, Phone, IP, IBAN, Card} }

// Masker replaces some kinds. It is safe for concurrent use.
type Masker struct {
	email, phone, ip, iban, card bool
}

// New returns a Masker for kinds. Unknown kinds are ignored.
func New(kinds []Kind) *Masker {
	has := func(k Kind) bool { return slices.Contains(kinds, k) }
	return &Masker{email: has(Email), phone: has(Phone), ip: has(IP), iban: has(IBAN), card: has(Card)}
}

// span is the range and the kind of a match in a text.
type span struct {
	start, end int
	kind       Kind
}

// Text returns s with all matches replaced. Without a match, it returns s itself.
func (m *Masker) Text(s string) string {
	var out strings.Builder
	done := 0 // end of the text that is written or replaced
	for i := 0; i < len(s); {
		if interesting[s[i]] == 0 {
			i++
			continue
		}
		// Replaced text is not context for the text that follows, just as when the result is masked
		// again.
		found := m.at(s[done:], i-done)
		if found.end == 0 {
			i = skip(s, i)
			continue
		}
		out.WriteString(s[done : done+found.start])
		out.WriteString("[" + string(found.kind) + "]")
		done += found.end
		i = done
	}
	if done == 0 {
		return s
	}
	out.WriteString(s[done:])
	return out.String()
}

// interesting are the characters at which a match may be found: "@" of an e-mail address, the first
// colon of an IPv6 address, the first digit of other kinds, or a character that may precede it in a
// phone number.
var interesting = func() (table [256]byte) {
	for _, c := range []byte("@:0123456789+(") {
		table[c] = 1
	}
	return table
}()

// at searches for a match at i. Each attempt reads a bounded number of bytes.
func (m *Masker) at(s string, i int) span {
	switch c := s[i]; {
	case c == '@' && m.email:
		return email(s, i)
	case c == ':' && m.ip:
		return ipv6(s, i)
	case (c == '+' || c == '(') && m.phone:
		return phone(s, i)
	case digit(c):
		return m.number(s, i)
	}
	return span{}
}

// number tries the kinds that begin with the digit at i, the most certain first.
func (m *Masker) number(s string, i int) span {
	if m.iban {
		if found := iban(s, i); found.end > 0 {
			return found
		}
	}
	if i > 0 && wordByte(s[i-1]) {
		return span{} // within a word
	}
	if m.ip {
		if found := ipv4(s, i); found.end > 0 {
			return found
		}
	}
	if m.card {
		if found := card(s, i); found.end > 0 {
			return found
		}
	}
	if m.phone {
		return phone(s, i)
	}
	return span{}
}

// skip returns the position after i at which to continue if nothing was found: after all digits,
// since no match begins within them.
func skip(s string, i int) int {
	if !digit(s[i]) {
		return i + 1
	}
	for i < len(s) && digit(s[i]) {
		i++
	}
	return i
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// wordByte reports whether c is part of an ASCII word.
func wordByte(c byte) bool { return digit(c) || letter(c) || c == '_' }

// endsAt reports whether text that ends at i is not part of something longer: a word, an address, a
// path or a file name.
func endsAt(s string, i int) bool {
	if i >= len(s) {
		return true
	}
	if wordByte(s[i]) || s[i] == '@' {
		return false
	}
	joined := s[i] == '.' || s[i] == '-' || s[i] == '/' || s[i] == ':' || s[i] == ',' || s[i] == '\''
	return !joined || i+1 == len(s) || !wordByte(s[i+1]) || s[i] == ',' && letter(s[i+1])
}
