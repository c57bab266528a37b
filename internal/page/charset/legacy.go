package charset

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wlynxg/chardet"

	"seine/internal/page/language"
)

// What is evidence of an encoding. The figures are those by which TestLegacyDetected knows all its texts, and none
// of TestWesternStays is taken for another.
const (
	sampleLength  = 4 << 10   // bytes of text that are looked at, in about 2 ms
	sampleSearch  = 256 << 10 // bytes of markup in which they are looked for
	minHigh       = 6         // bytes above ASCII
	minDense      = 0.6       // of them, at most one byte behind another: Western letters stand among ASCII
	minConfidence = 0.5       // of the library
)

// mostlyUTF8 reports whether nearly all of a text that is not UTF-8 is: there are two good characters beyond ASCII
// for each broken one, or at least one if only one is broken.
func mostlyUTF8(b []byte) bool {
	good, broken := 0, 0
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && size == 1:
			broken++
			size = brokenLength(b)
		case r >= utf8.RuneSelf:
			good++
		}
		b = b[size:]
	}
	return good >= 2*broken || good > 0 && broken == 1
}

// legacy guesses the encoding of text that declares none and is neither ASCII nor UTF-8: windows-1252 if there is
// no strong evidence of another.
func legacy(body []byte) Encoding {
	sample := textSample(body)
	if isDense(sample) {
		if e := otherScript(sample); e != (Encoding{}) {
			return e
		}
	}
	switch languageIn(Windows1252, sample) { // many of the commonest words are ASCII
	case "tr":
		return Encoding{"windows-1254"}
	case "et", "lv", "lt":
		return Encoding{"windows-1257"}
	case "", "pl", "cs", "sk", "hu", "hr", "sl", "ro":
		return centralEuropean(sample)
	}
	return Windows1252
}

// centralEuropean tells windows-1250 and ISO-8859-2 apart by letters that are signs in the other.
func centralEuropean(sample []byte) Encoding {
	latin2 := "\xb9" // "š"
	switch languageIn(Encoding{"windows-1250"}, sample) {
	case "pl":
		latin2 = "\xa1\xa6\xb1\xb6" // "Ą", "Ś", "ą", "ś"
	case "cs", "sk", "hu", "hr", "sl", "ro":
	default:
		return Windows1252
	}
	if slices.ContainsFunc(sample, func(c byte) bool { return strings.IndexByte(latin2, c) >= 0 }) {
		return Encoding{"iso-8859-2"}
	}
	return Encoding{"windows-1250"}
}

func languageIn(e Encoding, sample []byte) string {
	text, _ := e.toUTF8(sample)
	return language.Detect(string(text))
}

// otherScript guesses an encoding whose letters are not Latin.
func otherScript(sample []byte) Encoding {
	r := chardet.Detect(sample)
	e := labelled([]byte(r.Encoding))
	switch e.name {
	case "x-mac-cyrillic": // has the small letters of windows-1251, and is not of the web
		e.name = "windows-1251"
	case "koi8-r":
		if languageIn(Encoding{"koi8-u"}, sample) == "uk" {
			return Encoding{"koi8-u"}
		}
	}
	text, _ := e.toUTF8(sample)
	if detectable[e.name] && r.Confidence >= minConfidence && bytes.Count(text, []byte("\ufffd")) <= 1 { // one may be cut
		return e
	}
	switch languageIn(Encoding{"windows-1256"}, sample) { // which the library does not know
	case "ar", "fa", "ur":
		return Encoding{"windows-1256"}
	}
	return Encoding{}
}

// detectable are the encodings that the library is believed.
var detectable = map[string]bool{
	"gbk": true, "gb18030": true, "big5": true, "shift_jis": true, "euc-jp": true, "euc-kr": true,
	"windows-1251": true, "koi8-r": true, "iso-8859-5": true, "ibm866": true,
	"windows-1253": true, "iso-8859-7": true, "windows-1255": true, "iso-8859-8": true, "windows-874": true,
}

// isDense reports whether letters above ASCII stand side by side, as those of other scripts do.
func isDense(sample []byte) bool {
	high, dense, last := 0, 0, -3
	for i, c := range sample {
		if c < utf8.RuneSelf {
			continue
		}
		if high++; i-last <= 2 {
			dense++
		}
		last = i
	}
	return high >= minHigh && float64(dense) >= minDense*float64(high)
}

// textSample returns text around the first bytes above ASCII, without tags.
func textSample(body []byte) []byte {
	first := bytes.IndexFunc(body, func(r rune) bool { return r >= utf8.RuneSelf })
	body = body[max(0, first-sampleLength/8):]
	body = body[:min(len(body), sampleSearch)]
	out := make([]byte, 0, min(len(body), sampleLength))
	for len(body) > 0 && len(out) < sampleLength {
		text, rest, _ := bytes.Cut(body, []byte{'<'})
		out = append(out, text[:min(len(text), sampleLength-len(out))]...)
		_, body, _ = bytes.Cut(rest, []byte{'>'})
	}
	return out
}

// isISO2022JP knows ISO-2022-JP, whose bytes are all ASCII, by the escapes before its characters.
func isISO2022JP(ascii []byte) bool {
	const escape = "\x1b"
	if i := bytes.IndexByte(ascii, escape[0]); i < 0 || !bytes.Contains(ascii[i:], []byte(escape+"$B")) && !bytes.Contains(ascii[i:], []byte(escape+"$@")) {
		return false
	}
	text, _ := iso2022JP.toUTF8(ascii[:min(len(ascii), sampleSearch)])
	return bytes.Count(text, []byte("\ufffd")) <= 1
}
