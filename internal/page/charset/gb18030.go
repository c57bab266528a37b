package charset

import (
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"
)

// stepGB18030 is the gb18030 decoder (section 10.2.1).
//
// Pairs that the standard maps to characters for private use are U+FFFD here:
// the library has none of them, and nobody can read them.
func stepGB18030(out, b []byte) ([]byte, int) {
	switch {
	case b[0] == 0x80:
		return utf8.AppendRune(out, '€'), 1
	case b[0] == 0xff:
		return single(out)
	case len(b) > 1 && within(b[1], '0', '9'):
		return fourBytes(out, b)
	case len(b) > 1:
		if r := newerGB18030(b[0], b[1]); r != 0 {
			return utf8.AppendRune(out, r), 2
		}
	}
	return gbPairs().pair(out, b)
}

// fourBytes decodes a character whose second byte is a digit. If the third or
// the fourth byte is wrong, only the first is replaced.
func fourBytes(out, b []byte) ([]byte, int) {
	switch {
	case len(b) > 2 && !within(b[2], 0x81, 0xfe), len(b) > 3 && !within(b[3], '0', '9'):
		return single(out)
	case len(b) < 4:
		return utf8.AppendRune(out, utf8.RuneError), len(b)
	}
	pointer := ((int(b[0]-0x81)*10+int(b[1]-'0'))*126+int(b[2]-0x81))*10 + int(b[3]-'0')
	return utf8.AppendRune(out, gbRanges().decode(pointer)), 4
}

// Pointers of four bytes (index gb18030 ranges, section 5): those of the basic
// plane, less those that pairs have, and those of the other planes, in order.
const (
	gbBasic = 39420
	gbOther = 189000
)

// gbTable has the characters of the basic plane by their pointers, and the
// pointers, plus one, by the characters.
type gbTable struct {
	runes    [gbBasic]uint16
	pointers [1 << 16]uint16
}

var gbRanges = sync.OnceValue(func() *gbTable {
	t := new(gbTable)
	d := simplifiedchinese.GB18030.NewDecoder()
	for p := range gbBasic {
		r := utf8.RuneError
		if out, err := d.Bytes(gbBytes(nil, p)); err == nil && utf8.RuneCount(out) == 1 {
			r, _ = utf8.DecodeRune(out)
		}
		if p == gbMoved {
			r = 0xe7c7
		}
		t.runes[p] = uint16(r)
		t.pointers[uint16(r)] = uint16(p + 1)
	}
	return t
})

// gbMoved is the one pointer whose character has changed since the library's
// table: U+1E3F has a pair now.
const gbMoved = 7457

func (t *gbTable) decode(pointer int) rune {
	switch {
	case pointer < gbBasic:
		return rune(t.runes[pointer])
	case pointer >= gbOther && pointer < gbOther+1<<20:
		return rune(pointer - gbOther + 1<<16)
	}
	return utf8.RuneError
}

// encode appends the four bytes of a character that has them.
func (t *gbTable) encode(out []byte, r rune) []byte {
	switch {
	case r >= 1<<16:
		return gbBytes(out, int(r)-1<<16+gbOther)
	case t.pointers[r] > 0:
		return gbBytes(out, int(t.pointers[r])-1)
	}
	return out
}

func gbBytes(out []byte, pointer int) []byte {
	return append(out, byte(pointer/12600+0x81), byte(pointer/1260%10+'0'), byte(pointer/10%126+0x81), byte(pointer%10+'0'))
}

// newerGB18030 knows what the library's table, of the year 2000, does not: the
// pairs that GB 18030 has since moved out of the private use area (index
// gb18030, as of GB 18030-2022).
func newerGB18030(lead, trail byte) rune {
	switch uint16(lead)<<8 | uint16(trail) {
	case 0xa6d9:
		return 0xfe10
	case 0xa6da:
		return 0xfe12
	case 0xa6db:
		return 0xfe11
	case 0xa6dc, 0xa6dd, 0xa6de, 0xa6df:
		return 0xfe13 + rune(trail-0xdc)
	case 0xa6ec, 0xa6ed:
		return 0xfe17 + rune(trail-0xec)
	case 0xa6f3:
		return 0xfe19
	case 0xa8bc:
		return 0x1e3f
	case 0xfe59:
		return 0x9fb4
	case 0xfe61:
		return 0x9fb5
	case 0xfe66, 0xfe67:
		return 0x9fb6 + rune(trail-0x66)
	case 0xfe6d:
		return 0x9fb8
	case 0xfe7e:
		return 0x9fb9
	case 0xfe90:
		return 0x9fba
	case 0xfea0:
		return 0x9fbb
	}
	return 0
}
