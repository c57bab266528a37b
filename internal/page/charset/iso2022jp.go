package charset

import "unicode/utf8"

// States of the ISO-2022-JP decoder (section 12.2.1).
type jisState uint8

const (
	jisASCII jisState = iota
	jisRoman
	jisKatakana
	jisDouble // JIS X 0208, two bytes a character
)

// decodeISO2022JP is the decoder of the one encoding with escape sequences that
// the standard has kept.
func decodeISO2022JP(b []byte) []byte {
	out := make([]byte, 0, len(b)+len(b)/4)
	state := jisASCII
	escaped := false // nothing was put out since the last escape sequence
	for len(b) > 0 {
		if b[0] == 0x1b {
			next, n := jisEscape(b)
			if n > 0 {
				if escaped {
					out = utf8.AppendRune(out, utf8.RuneError)
				}
				state, escaped, b = next, true, b[n:]
				continue
			}
			out, b, escaped = utf8.AppendRune(out, utf8.RuneError), b[1:], false
			continue
		}
		r, n := state.decode(b)
		out, b, escaped = utf8.AppendRune(out, r), b[n:], false
	}
	return out
}

// jisEscape returns the state that an escape sequence at the start of b leads
// to, and its length, which is 0 if it is none.
func jisEscape(b []byte) (jisState, int) {
	if len(b) < 3 {
		return 0, 0
	}
	switch string(b[1:3]) {
	case "(B":
		return jisASCII, 3
	case "(J":
		return jisRoman, 3
	case "(I":
		return jisKatakana, 3
	case "$@", "$B":
		return jisDouble, 3
	}
	return 0, 0
}

// decode decodes the character at the start of b, which is no escape.
func (s jisState) decode(b []byte) (rune, int) {
	c := b[0]
	switch {
	case s == jisDouble:
		return decodeJIS0208(b)
	case s == jisKatakana && within(c, 0x21, 0x5f):
		return 0xff61 - 0x21 + rune(c), 1
	case s == jisKatakana, c >= utf8.RuneSelf, c == 0x0e, c == 0x0f:
		return utf8.RuneError, 1
	case s == jisRoman && c == '\\':
		return '¥', 1
	case s == jisRoman && c == '~':
		return '‾', 1
	}
	return rune(c), 1
}

// decodeJIS0208 decodes two bytes. They are those of EUC-JP without the highest
// bits.
func decodeJIS0208(b []byte) (rune, int) {
	switch {
	case !within(b[0], 0x21, 0x7e):
		return utf8.RuneError, 1
	case len(b) < 2 || b[1] == 0x1b:
		return utf8.RuneError, 1
	case !within(b[1], 0x21, 0x7e):
		return utf8.RuneError, 2
	}
	if r := jisPairs().lookup(b[0]|0x80, b[1]|0x80); r != 0 {
		return r, 2
	}
	return utf8.RuneError, 2
}

// isJISControl reports the characters by which ISO-2022-JP is steered.
func isJISControl(r rune) bool { return r == 0x0e || r == 0x0f || r == 0x1b }

// fullKatakana are the full-width forms of U+FF61 to U+FF9F (index ISO-2022-JP
// katakana).
var fullKatakana = []rune("。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン゛゜")

// jisEncoder is the encoder of section 12.2.2.
type jisEncoder struct {
	state jisState
	buf   []byte
}

func (j *jisEncoder) encode(r rune) ([]byte, bool) {
	j.buf = j.buf[:0]
	switch {
	case isJISControl(r):
		j.leaveDouble()
		return j.buf, false
	case r < utf8.RuneSelf:
		if j.state == jisDouble || j.state == jisRoman && (r == '\\' || r == '~') {
			j.enter(jisASCII)
		}
		return append(j.buf, byte(r)), true
	case r == '¥', r == '‾':
		j.enter(jisRoman)
		return append(j.buf, map[rune]byte{'¥': '\\', '‾': '~'}[r]), true
	case isHalfKatakana(r):
		r = fullKatakana[r-0xff61]
	}
	c, ok := jisCodes()[minusSign(r)]
	if !ok {
		j.leaveDouble()
		return j.buf, false
	}
	j.enter(jisDouble)
	return append(j.buf, c[0]&0x7f, c[1]&0x7f), true
}

// leaveDouble is what an error starts with.
func (j *jisEncoder) leaveDouble() {
	if j.state == jisDouble {
		j.enter(jisASCII)
	}
}

// enter writes the escape sequence that leads to a state.
func (j *jisEncoder) enter(s jisState) {
	if j.state == s {
		return
	}
	j.state = s
	switch s {
	case jisRoman:
		j.buf = append(j.buf, "\x1b(J"...)
	case jisDouble:
		j.buf = append(j.buf, "\x1b$B"...)
	default:
		j.buf = append(j.buf, "\x1b(B"...)
	}
}
