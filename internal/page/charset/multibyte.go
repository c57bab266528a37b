package charset

import (
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// The East Asian encodings are decoded here, by the tables of the library: its
// decoders swallow an ASCII byte behind a lead byte it makes no character with,
// by which a quote or "<" can be hidden from one reader and not from another.
// The standard's put it back.

// step appends the character that b, which does not start with ASCII, starts
// with, and returns how much of b it took. What is no character is U+FFFD.
type step func(out, b []byte) ([]byte, int)

// eastAsian returns the step of an encoding's decoder, or nil if it is another.
func eastAsian(e Encoding) step {
	switch e.name {
	case "gbk", "gb18030": // section 10.1.1: GBK's decoder is gb18030's
		return stepGB18030
	case "big5":
		return stepBig5
	case "euc-jp":
		return stepEUCJP
	case "shift_jis":
		return stepShiftJIS
	case "euc-kr":
		return stepEUCKR
	}
	return nil
}

func (s step) decode(b []byte) []byte {
	out := make([]byte, 0, len(b)+len(b)/2)
	for len(b) > 0 {
		n := 1
		if b[0] < utf8.RuneSelf {
			out = append(out, b[0])
		} else {
			out, n = s(out, b)
		}
		b = b[n:]
	}
	return out
}

// pairs are the characters of two bytes, by the first less firstLead and the
// second; zero where there is none.
type pairs [(lastLead - firstLead + 1) << 8]rune

// The first and the last lead byte of any of the encodings.
const firstLead, lastLead = 0x81, 0xfe

// The tables, made at first need.
var (
	gbPairs   = sync.OnceValue(func() *pairs { return newPairs(simplifiedchinese.GB18030) })
	big5Pairs = sync.OnceValue(func() *pairs { return newPairs(traditionalchinese.Big5) })
	jisPairs  = sync.OnceValue(func() *pairs { return newPairs(japanese.EUCJP) })
	sjisPairs = sync.OnceValue(func() *pairs { return newPairs(japanese.ShiftJIS) })
	krPairs   = sync.OnceValue(func() *pairs { return newPairs(korean.EUCKR) })
)

func newPairs(e encoding.Encoding) *pairs {
	t := new(pairs)
	d := e.NewDecoder()
	for lead := firstLead; lead <= lastLead; lead++ {
		for trail := 0x40; trail <= 0xfe; trail++ {
			t.set(d, lead, trail, []byte{byte(lead), byte(trail)})
		}
	}
	return t
}

// set takes what the library decodes b to, if it is one character.
func (t *pairs) set(d *encoding.Decoder, lead, trail int, b []byte) {
	out, err := d.Bytes(b)
	if r, n := utf8.DecodeRune(out); err == nil && n == len(out) && r != utf8.RuneError {
		t[(lead-firstLead)<<8|trail] = r
	}
}

// lookup returns the character of two bytes, or 0.
func (t *pairs) lookup(lead, trail byte) rune {
	if lead < firstLead || lead > lastLead {
		return 0
	}
	return t[int(lead-firstLead)<<8|int(trail)]
}

// pair decodes two bytes, of which the first is a lead byte.
func (t *pairs) pair(out, b []byte) ([]byte, int) {
	if len(b) < 2 {
		return broken(out, b)
	}
	if r := t.lookup(b[0], b[1]); r != 0 {
		return utf8.AppendRune(out, r), 2
	}
	return broken(out, b)
}

// broken replaces the bytes of b, which are no character, by one U+FFFD, without
// a last one that is ASCII.
func broken(out, b []byte) ([]byte, int) {
	n := min(len(b), 2)
	if b[n-1] < utf8.RuneSelf {
		n--
	}
	return utf8.AppendRune(out, utf8.RuneError), n
}

func within(c, low, high byte) bool { return low <= c && c <= high }

// single replaces the byte that b starts with, which starts no character.
func single(out []byte) ([]byte, int) { return utf8.AppendRune(out, utf8.RuneError), 1 }

// stepEUCKR is the EUC-KR decoder (section 13.1.1).
func stepEUCKR(out, b []byte) ([]byte, int) {
	if !within(b[0], 0x81, 0xfe) {
		return single(out)
	}
	return krPairs().pair(out, b)
}

// stepBig5 is the Big5 decoder (section 11.1.1). Four pairs are a letter with an
// accent.
func stepBig5(out, b []byte) ([]byte, int) {
	if !within(b[0], 0x81, 0xfe) {
		return single(out)
	}
	if b[0] == 0x88 && len(b) > 1 {
		switch b[1] {
		case 0x62:
			return append(out, "\u00ca\u0304"...), 2
		case 0x64:
			return append(out, "\u00ca\u030c"...), 2
		case 0xa3:
			return append(out, "\u00ea\u0304"...), 2
		case 0xa5:
			return append(out, "\u00ea\u030c"...), 2
		}
	}
	return big5Pairs().pair(out, b)
}

// stepShiftJIS is the Shift_JIS decoder (section 12.3.1).
func stepShiftJIS(out, b []byte) ([]byte, int) {
	switch c := b[0]; {
	case c == 0x80:
		return utf8.AppendRune(out, 0x80), 1
	case within(c, 0xa1, 0xdf):
		return utf8.AppendRune(out, 0xff61-0xa1+rune(c)), 1
	case c == 0xa0 || c > 0xfc:
		return single(out)
	case within(c, 0xf0, 0xf9) && len(b) > 1 && within(b[1], 0x40, 0xfc) && b[1] != 0x7f:
		trail := rune(b[1]) - 0x40 // for the user to define
		if b[1] > 0x7f {
			trail--
		}
		return utf8.AppendRune(out, 0xe000+188*rune(c-0xf0)+trail), 2
	}
	return sjisPairs().pair(out, b)
}

// stepEUCJP is the EUC-JP decoder (section 12.1.1).
func stepEUCJP(out, b []byte) ([]byte, int) {
	switch c := b[0]; {
	case c == 0x8e && len(b) > 1 && within(b[1], 0xa1, 0xdf):
		return utf8.AppendRune(out, 0xff61-0xa1+rune(b[1])), 2
	case c == 0x8f && len(b) > 1 && within(b[1], 0xa1, 0xfe):
		return stepJIS0212(out, b)
	case c == 0x8e, c == 0x8f:
		return broken(out, b)
	case !within(c, 0xa1, 0xfe):
		return single(out)
	}
	return jisPairs().pair(out, b)
}

// stepJIS0212 decodes three bytes, of which the first two are right.
func stepJIS0212(out, b []byte) ([]byte, int) {
	if len(b) < 3 {
		return utf8.AppendRune(out, utf8.RuneError), len(b)
	}
	if r := jis0212().lookup(b[1], b[2]); r != 0 {
		return utf8.AppendRune(out, r), 3
	}
	out, n := broken(out, b[1:3])
	return out, n + 1
}

// jis0212 has the characters of EUC-JP that stand behind 0x8F.
var jis0212 = sync.OnceValue(func() *pairs {
	t := new(pairs)
	d := japanese.EUCJP.NewDecoder()
	for lead := 0xa1; lead <= 0xfe; lead++ {
		for trail := 0xa1; trail <= 0xfe; trail++ {
			t.set(d, lead, trail, []byte{0x8f, byte(lead), byte(trail)})
		}
	}
	return t
})
