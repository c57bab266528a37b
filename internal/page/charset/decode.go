package charset

import (
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

// toUTF8 decodes a document with the decoder of the encoding: Encoding standard chapters 8 to 14.
// The caller must have removed a byte order mark.
func (e Encoding) toUTF8(body []byte) ([]byte, Encoding) {
	switch e {
	case UTF8:
		return decodeUTF8(body), e
	case UTF16BE:
		return decodeMultibyte(body, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)), e
	case UTF16LE:
		return decodeMultibyte(body, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)), e
	case replacement:
		return decodeReplacement(body), e
	}
	if e != iso2022JP && isASCII(body) {
		return body, e // all remaining encodings extend ASCII
	}
	switch known := e.library().(type) {
	case *charmap.Charmap:
		return decodeSingle(body, known), e
	default:
		return decodeMultibyte(body, known), e
	}
}

// decodeMultibyte decodes an East Asian encoding as the library does. The library determines the
// number of U+FFFD for invalid bytes, and loses no markup after them.
func decodeMultibyte(b []byte, e encoding.Encoding) []byte {
	if e == simplifiedchinese.GBK {
		e = simplifiedchinese.GB18030 // section 10.1.1: GBK's decoder is gb18030's
	}
	out, err := e.NewDecoder().Bytes(b)
	if err != nil { // does not happen: decoders replace invalid bytes
		return []byte("\ufffd")
	}
	return out
}

// decodeUTF8 replaces invalid UTF-8: each maximal part of a character becomes one U+FFFD (section
// 8.1.1).
func decodeUTF8(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	return decodeMultibyte(b, unicode.UTF8)
}

// brokenLength returns the number of bytes at the start of b, which is not a character, that are
// the start of one.
func brokenLength(b []byte) int {
	n := 1
	for ; n < min(len(b), utf8.UTFMax-1); n++ {
		// A prefix of a character can be completed, and is not a full rune until then.
		if utf8.FullRune(b[:n+1]) {
			break
		}
	}
	return n
}

// decodeReplacement does not decode: the standard rejects encodings in which harmless bytes can
// become markup (section 14.1.1).
func decodeReplacement(b []byte) []byte {
	if len(b) == 0 {
		return b
	}
	return []byte("\ufffd")
}

// decodeSingle is the single-byte decoder (section 9.1), and the one of x-user-defined.
func decodeSingle(b []byte, m *charmap.Charmap) []byte {
	var table [256]rune
	for c := range table {
		table[c] = decodeByte(m, byte(c))
	}
	size := 0
	for _, c := range b {
		size += utf8.RuneLen(table[c])
	}
	out := make([]byte, 0, size)
	for _, c := range b {
		out = utf8.AppendRune(out, table[c])
	}
	return out
}

// decodeByte corrects the library's tables: the standard's indexes have C1 controls for bytes that
// are not characters in Windows.
func decodeByte(m *charmap.Charmap, c byte) rune {
	r := m.DecodeByte(c)
	if r == utf8.RuneError && c < 0xa0 || c < utf8.RuneSelf {
		return rune(c)
	}
	return r
}

// library returns the library's encoding with that name.
func (e Encoding) library() encoding.Encoding {
	if known, err := htmlindex.Get(e.name); err == nil {
		return known
	}
	return charmap.Windows1252 // does not happen: labelled returns no other encodings
}
