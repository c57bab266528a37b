package messages

import (
	"strconv"
	"unicode/utf8"
)

// appendString appends s as a JSON string (RFC 8259 section 7). It escapes only
// what must be escaped, and copies the rest in runs: text is nearly all of a
// record, and encoding/json takes nearly twice as long for it
// (BenchmarkRecord). Invalid UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := plain(s, 0); i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(b, s[from:i]...)
				b = append(b, "\ufffd"...)
				from = i + 1
			}
			i += n
			continue
		}
		b = append(b, s[from:i]...)
		b = appendEscaped(b, c)
		from = i + 1
		i = plain(s, from)
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}

// plain returns the end of the run of bytes from i on that can be copied,
// looking at eight at a time and stopping at the first eight with one that
// cannot. The tests for a byte below n and for a zero byte in a word are those
// of Hacker's Delight, chapter 6.
func plain(s string, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		if ((w-ones*' ')&^w|(quote-ones)&^quote|(slash-ones)&^slash|w)&highs != 0 {
			return i
		}
	}
	return i
}

func appendEscaped(b []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
}

// object appends the members of a JSON object one after the other.
type object struct {
	b    []byte
	more bool // a member has been appended
}

func (o *object) key(k string) {
	if o.more {
		o.b = append(o.b, ',')
	} else {
		o.b, o.more = append(o.b, '{'), true
	}
	o.b = append(appendString(o.b, k), ':')
}

func (o *object) text(k, v string) { o.key(k); o.b = appendString(o.b, v) }
func (o *object) int(k string, v int) {
	o.key(k)
	o.b = strconv.AppendInt(o.b, int64(v), 10)
}
func (o *object) bool(k string, v bool) { o.key(k); o.b = strconv.AppendBool(o.b, v) }
