package messages

import (
	"encoding/hex"
	"strconv"
	"time"
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
func (o *object) int(k string, v int64) {
	o.key(k)
	o.b = strconv.AppendInt(o.b, v, 10)
}
func (o *object) bool(k string, v bool) { o.key(k); o.b = strconv.AppendBool(o.b, v) }

// time appends what time.Time.MarshalJSON returns for a time of this era.
func (o *object) time(k string, v time.Time) {
	o.key(k)
	o.b = append(v.AppendFormat(append(o.b, '"'), time.RFC3339Nano), '"')
}

func (o *object) visit(k string, v Visit) {
	o.key(k)
	o.b = append(o.b, '"')
	if !v.IsZero() {
		o.b = hex.AppendEncode(o.b, v.URL[:])
		o.b = strconv.AppendUint(append(o.b, '.'), uint64(v.Round), 10)
	}
	o.b = append(o.b, '"')
}

// Members that are left out when they are zero.

func (o *object) textSet(k, v string) {
	if v != "" {
		o.text(k, v)
	}
}

func (o *object) intSet(k string, v int64) {
	if v != 0 {
		o.int(k, v)
	}
}

func (o *object) uintSet(k string, v uint64) {
	if v != 0 {
		o.key(k)
		o.b = strconv.AppendUint(o.b, v, 10)
	}
}

// millisSet leaves out a duration that is zero, not one of less than a millisecond.
func (o *object) millisSet(k string, v Millis) {
	if v != 0 {
		o.int(k, time.Duration(v).Milliseconds())
	}
}
