// Package jsontext appends JSON text (RFC 8259) to a buffer, member by member in the order of the
// calls, and splits JSON text in the same way. It is for operations on every page, where
// encoding/json costs several times as much; use encoding/json for anything else.
package jsontext

import (
	"strconv"
	"time"
	"unicode/utf8"
)

// AppendString appends s as a JSON string (RFC 8259 section 7). It escapes only the necessary
// characters and copies the rest in runs, because text is nearly all of a record and encoding/json
// takes nearly twice as long (BenchmarkRecord in pkg/messages). Invalid UTF-8 becomes U+FFFD.
func AppendString(b []byte, s string) []byte {
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

// plain returns the end of the run of bytes from i on that can be copied. It checks eight bytes at
// a time, and stops at the first eight that contain another byte. The tests for a byte below n and
// for a zero byte in a word are from Hacker's Delight, chapter 6.
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

// Object appends the members of one JSON object to B. The zero value is an empty object; with a
// buffer in B, the object is appended to it.
type Object struct {
	B    []byte
	more bool // a member has been appended
}

// Key appends the name of a member. Append its value to B next.
func (o *Object) Key(k string) {
	if o.more {
		o.B = append(o.B, ',')
	} else {
		o.B, o.more = append(o.B, '{'), true
	}
	o.B = append(AppendString(o.B, k), ':')
}

// End closes the object and returns the buffer.
func (o *Object) End() []byte {
	if !o.more {
		o.B = append(o.B, '{')
	}
	return append(o.B, '}')
}

// Text appends a member that is a string.
func (o *Object) Text(k, v string) { o.Key(k); o.B = AppendString(o.B, v) }

// Int appends a member with an integer.
func (o *Object) Int(k string, v int64) { o.Key(k); o.B = strconv.AppendInt(o.B, v, 10) }

// Bool appends a member with a boolean.
func (o *Object) Bool(k string, v bool) { o.Key(k); o.B = strconv.AppendBool(o.B, v) }

// Raw appends a member whose value is JSON text.
func (o *Object) Raw(k string, v []byte) { o.Key(k); o.B = append(o.B, v...) }

// Time appends a member with a time: see AppendTime.
func (o *Object) Time(k string, v time.Time) { o.Key(k); o.B = AppendTime(o.B, v) }

// Texts appends a member with a list of strings.
func (o *Object) Texts(k string, vs []string) { o.Key(k); o.B = AppendStrings(o.B, vs) }

// TextSet appends a member with a string, unless it is empty.
func (o *Object) TextSet(k, v string) {
	if v != "" {
		o.Text(k, v)
	}
}

// AppendTime appends a time as a string in the form of RFC 3339. It always has six fractional
// digits, which databases and columns keep. Readers that infer types do not recognize a mixture of
// precisions as times.
func AppendTime(b []byte, v time.Time) []byte {
	return append(v.AppendFormat(append(b, '"'), "2006-01-02T15:04:05.000000Z07:00"), '"')
}

// AppendList appends a list, using appendOne for each member.
func AppendList[T any](b []byte, vs []T, appendOne func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i, v := range vs {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendOne(b, v)
	}
	return append(b, ']')
}

// AppendStrings appends a list of strings.
func AppendStrings(b []byte, vs []string) []byte { return AppendList(b, vs, AppendString) }

// AppendRaw appends JSON text.
func AppendRaw[T ~[]byte](b []byte, text T) []byte { return append(b, text...) }

func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}
