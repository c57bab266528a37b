// Package pii replaces personal data in text: e-mail addresses by [email], phone
// numbers by [phone], addresses of the Internet Protocol by [ip], bank accounts by
// [iban], numbers of payment cards by [card].
//
// What has a checksum is masked only if that is right (IBAN: ISO 13616 and ISO
// 7064; cards: ISO/IEC 7812 and the ranges of the issuers). Phone numbers have
// none, and are recognised by how they are written: internationally ("+49 30 1234567",
// "0044 20 7946 0958"), nationally with a leading zero or as in North America and
// with separators ("030/1234567", "(212) 555-0123"), or in any form after a word
// for a phone ("Tel.: 5550123"). Dates, prices, ISBNs, versions and numbers of
// orders are not taken for any of them; a number of four parts under ten is one of
// a section, not an address. Loopback and unspecified addresses and masks say
// nothing of a person, and stay.
//
// It is a filter that misses some and takes some too many, not a proof: names and
// postal addresses are not looked for, nor what is written to evade filters ("joe
// at example dot com"). Masking twice changes nothing. Time is linear in the
// length of the text, memory a copy of it, none if nothing is found.
package pii

import (
	"slices"
	"strings"
)

// Kind is a kind of personal data; its text is the name of it.
type Kind string

// The kinds.
const (
	Email Kind = "email"
	Phone Kind = "phone"
	IP    Kind = "ip"
	IBAN  Kind = "iban"
	Card  Kind = "card"
)

// Kinds returns all kinds there are.
func Kinds() []Kind { return []Kind{Email, Phone, IP, IBAN, Card} }

// Masker replaces some kinds. It may be used by several goroutines.
type Masker struct {
	email, phone, ip, iban, card bool
}

// New returns a Masker for kinds. Those that do not exist are ignored.
func New(kinds []Kind) *Masker {
	has := func(k Kind) bool { return slices.Contains(kinds, k) }
	return &Masker{email: has(Email), phone: has(Phone), ip: has(IP), iban: has(IBAN), card: has(Card)}
}

// span is where something to mask lies in a text, and what it is.
type span struct {
	start, end int
	kind       Kind
}

// Text returns s with what is found replaced; s itself if there is nothing.
func (m *Masker) Text(s string) string {
	var out strings.Builder
	done := 0 // what is written out, or replaced
	for i := 0; i < len(s); {
		if interesting[s[i]] == 0 {
			i++
			continue
		}
		// What was replaced is no context for what follows: so it is when the
		// result is masked again.
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

// interesting are the characters something may be found at: "@" of an e-mail
// address, the first colon of an IPv6 address, the first digit of the others, or
// what may stand before it in a phone number.
var interesting = func() (table [256]byte) {
	for _, c := range []byte("@:0123456789+(") {
		table[c] = 1
	}
	return table
}()

// at looks for something at i. Each attempt reads a bounded number of bytes.
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

// number tries what begins with the digit at i, the surest first.
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

// skip returns where to continue when nothing was found at i: after all digits, since
// nothing begins within them.
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

// wordByte says that c is part of a word of ASCII.
func wordByte(c byte) bool { return digit(c) || letter(c) || c == '_' }

// endsAt says that what ends at i is not part of something longer: of a word, an
// address, a path or the name of a file.
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
