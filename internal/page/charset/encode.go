package charset

import (
	"errors"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/transform"
)

// appendSingle appends a query in a single-byte encoding (Encoding standard section 9.2).
func appendSingle(out []byte, m *charmap.Charmap, q string) []byte {
	for _, r := range q {
		if b, ok := encodeByte(m, r); ok {
			out = appendQueryByte(out, b)
		} else {
			out = appendUnencodable(out, r)
		}
	}
	return out
}

func encodeByte(m *charmap.Charmap, r rune) (byte, bool) {
	switch b, ok := m.EncodeRune(r); {
	case r < utf8.RuneSelf:
		return byte(r), true
	case r == utf8.RuneError:
		return 0, false
	case ok:
		return b, true
	}
	return byte(r), r < 0xa0 && decodeByte(m, byte(r)) == r // see decodeByte
}

// appendMultibyte appends a query in an East Asian encoding.
func appendMultibyte(out []byte, e encoding.Encoding, q string) []byte {
	var buf [256]byte
	encoder, src := e.NewEncoder().Transformer, []byte(q)
	for {
		written, read, err := encoder.Transform(buf[:], src, true)
		for _, b := range buf[:written] {
			out = appendQueryByte(out, b)
		}
		src = src[read:]
		if len(src) == 0 {
			return out
		}
		if errors.Is(err, transform.ErrShortDst) && written > 0 {
			continue
		}
		r, size := utf8.DecodeRune(src)
		out, src = appendUnencodable(out, r), src[size:]
	}
}
