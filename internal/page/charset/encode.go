package charset

import (
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// encode is the state of an encoder: it returns the bytes of the next character,
// or what has to stand before the error if the encoding does not have it. The
// bytes are valid until the next call.
type encode func(r rune) (b []byte, ok bool)

// encoder returns the encoder of e (Encoding standard chapters 8 to 14).
func (e Encoding) encoder() encode {
	var buf [utf8.UTFMax]byte
	if !e.Reencodes() {
		return func(r rune) ([]byte, bool) { return utf8.AppendRune(buf[:0], r), true }
	}
	if e == iso2022JP {
		return new(jisEncoder).encode
	}
	one := encodeEastAsian(e)
	if one == nil {
		m := singleByte(e)
		one = func(out []byte, r rune) []byte { return encodeByte(out, m, r) }
	}
	return func(r rune) ([]byte, bool) {
		if r < utf8.RuneSelf {
			return append(buf[:0], byte(r)), true
		}
		b := one(buf[:0], r)
		return b, len(b) > 0
	}
}

func encodeByte(out []byte, m *charmap.Charmap, r rune) []byte {
	if r == utf8.RuneError {
		return out
	}
	if b, ok := m.EncodeRune(r); ok {
		return append(out, b)
	}
	if r < 0xa0 && decodeByte(m, byte(r)) == r {
		return append(out, byte(r)) // see decodeByte
	}
	return out
}

// encodeEastAsian returns the function that appends a character that is not
// ASCII, or leaves out as it is; nil if e is another encoding.
func encodeEastAsian(e Encoding) func(out []byte, r rune) []byte {
	switch e.name {
	case "gbk":
		return encodeGBK
	case "gb18030":
		return encodeGB18030
	case "big5":
		return func(out []byte, r rune) []byte { return appendPair(out, big5Codes(), r) }
	case "euc-kr":
		return func(out []byte, r rune) []byte { return appendPair(out, krCodes(), r) }
	case "euc-jp":
		return encodeEUCJP
	case "shift_jis":
		return encodeShiftJIS
	}
	return nil
}

// codes maps characters to lead and trail byte.
type codes map[rune][2]byte

// The tables, made at first need: some 20,000 entries each.
var (
	gbCodes   = sync.OnceValue(func() codes { return gbPairs().codes(nil) })
	krCodes   = sync.OnceValue(func() codes { return krPairs().codes(nil) })
	jisCodes  = sync.OnceValue(func() codes { return jisPairs().codes(nil) })
	sjisCodes = sync.OnceValue(func() codes {
		return sjisPairs().codes(func(lead byte) bool { return lead == 0xed || lead == 0xee })
	})
	big5Codes = sync.OnceValue(func() codes {
		return big5Pairs().codes(func(lead byte) bool { return lead < 0xa1 }).lastOfBig5()
	})
)

// codes turns a table around. The first of several codes of a character counts,
// and those of some lead bytes, which are for reading only, do not.
func (t *pairs) codes(skip func(lead byte) bool) codes {
	m := make(codes)
	for i, r := range t {
		lead, trail := byte(firstLead+i>>8), byte(i)
		if r == 0 || skip != nil && skip(lead) {
			continue
		}
		if _, ok := m[r]; !ok {
			m[r] = [2]byte{lead, trail}
		}
	}
	return m
}

// lastOfBig5 takes the last code of the six characters for which the standard
// says so (index Big5 pointer, section 5).
func (m codes) lastOfBig5() codes {
	for i, r := range big5Pairs() {
		switch r {
		case 0x2550, 0x255e, 0x2561, 0x256a, 0x5341, 0x5345:
			m[r] = [2]byte{byte(firstLead + i>>8), byte(i)}
		}
	}
	return m
}

func appendPair(out []byte, m codes, r rune) []byte {
	if c, ok := m[r]; ok {
		return append(out, c[:]...)
	}
	return out
}

// encodeGBK is the encoder of section 10.2.2 with "is GBK".
func encodeGBK(out []byte, r rune) []byte {
	if r == '€' {
		return append(out, 0x80)
	}
	if lead, trail, ok := codeOfNewer(r); ok {
		return append(out, lead, trail)
	}
	return appendPair(out, gbCodes(), r)
}

// encodeGB18030 has four bytes for whatever GBK has none for, but for one
// character that decodes to another (section 10.2.2).
func encodeGB18030(out []byte, r rune) []byte {
	if b := encodeGBK(out, r); len(b) > len(out) && r != '€' {
		return b
	}
	switch r {
	case '€':
		return append(out, "\xa2\xe3"...)
	case 0xe5e5:
		return out
	}
	return gbRanges().encode(out, r)
}

// codeOfNewer finds what newerGB18030 knows.
func codeOfNewer(r rune) (lead, trail byte, ok bool) {
	if r != 0x1e3f && (r < 0x9fb4 || r > 0x9fbb) && (r < 0xfe10 || r > 0xfe19) {
		return 0, 0, false
	}
	for _, lead := range []byte{0xa6, 0xa8, 0xfe} {
		for trail := byte(0x40); trail < 0xff; trail++ {
			if newerGB18030(lead, trail) == r {
				return lead, trail, true
			}
		}
	}
	return 0, 0, false
}

// encodeEUCJP is the EUC-JP encoder (section 12.1.2).
func encodeEUCJP(out []byte, r rune) []byte {
	switch {
	case r == '¥':
		return append(out, '\\')
	case r == '‾':
		return append(out, '~')
	case isHalfKatakana(r):
		return append(out, 0x8e, byte(r-0xff61+0xa1))
	}
	return appendPair(out, jisCodes(), minusSign(r))
}

// encodeShiftJIS is the Shift_JIS encoder (section 12.3.2).
func encodeShiftJIS(out []byte, r rune) []byte {
	switch {
	case r == 0x80:
		return append(out, 0x80)
	case r == '¥':
		return append(out, '\\')
	case r == '‾':
		return append(out, '~')
	case isHalfKatakana(r):
		return append(out, byte(r-0xff61+0xa1))
	}
	return appendPair(out, sjisCodes(), minusSign(r))
}

func isHalfKatakana(r rune) bool { return 0xff61 <= r && r <= 0xff9f }

// minusSign takes the minus for the full-width one, which the Japanese encodings
// have.
func minusSign(r rune) rune {
	if r == 0x2212 {
		return 0xff0d
	}
	return r
}
