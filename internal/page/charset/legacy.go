package charset

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/wlynxg/chardet"

	"seine/internal/base/lazyregexp"
	"seine/internal/page/language"
)

// Thresholds of the evidence for an encoding, determined with the texts of TestLegacyDetected and
// TestWesternStays.
const (
	sampleLength  = 4 << 10  // bytes of text in a sample, which take about 2 ms
	sampleSearch  = 64 << 10 // bytes of markup that are searched for a sample
	minHigh       = 6        // bytes above ASCII in a text of a non-Latin script
	minDense      = 0.6      // share of these that follow another within two bytes
	minConfidence = 0.5      // reported by the library
)

// mostlyUTF8 reports whether a text is entirely or nearly UTF-8: it has two valid characters beyond
// ASCII for each broken one, or at least one if only one is broken, as at the end of a truncated
// fetch.
func mostlyUTF8(b []byte) bool {
	good, broken := 0, 0
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			broken++
			size = brokenLength(b)
		} else if r >= utf8.RuneSelf {
			good++
		}
		b = b[size:]
	}
	return good >= 2*broken || good > 0 && broken == 1
}

// byLanguage are encodings that the library does not detect reliably, with their languages.
var byLanguage = []struct{ name, languages string }{
	{"windows-1256", "ar fa ur"}, {"windows-1254", "tr"}, {"windows-1257", "et lv lt"}, {"windows-1250", "pl cs sk hu hr sl ro"},
}

// legacy guesses the encoding of text that declares none and is neither ASCII nor UTF-8. It returns
// windows-1252 unless there is strong evidence of another.
func legacy(body []byte) Encoding {
	sample := textSample(body)
	if e := otherScript(sample); e != (Encoding{}) {
		return e
	}
	western := languageIn(Windows1252, sample) // many of the most common words are ASCII
	for _, e := range byLanguage {
		known := western == "" || strings.Contains(e.languages, western)
		if lang := languageIn(Encoding{e.name}, sample); known && lang != "" && strings.Contains(e.languages, lang) {
			return Encoding{e.name}
		}
	}
	return Windows1252
}

func languageIn(e Encoding, sample []byte) string {
	text, _ := e.toUTF8(sample)
	return language.Detect(string(text))
}

// detectable are the encodings that the library detects reliably.
const detectable = " gbk gb18030 big5 shift_jis euc-jp euc-kr windows-1251 koi8-r koi8-u iso-8859-5 ibm866 windows-1253 iso-8859-7 windows-1255 iso-8859-8 windows-874 "

// otherScript guesses an encoding with non-Latin letters.
func otherScript(sample []byte) Encoding {
	if !isDense(sample) {
		return Encoding{}
	}
	r := chardet.Detect(sample)
	e := labelled([]byte(r.Encoding))
	switch {
	case e.name == "x-mac-cyrillic": // has the small letters of windows-1251, and is rare on the web
		e.name = "windows-1251"
	case e.name == "koi8-r" && languageIn(Encoding{"koi8-u"}, sample) == "uk":
		e.name = "koi8-u"
	}
	if !strings.Contains(detectable, " "+e.name+" ") || r.Confidence < minConfidence || !isClean(e, sample) {
		return Encoding{}
	}
	return e
}

// isClean reports whether a text is valid in an encoding, except for one character that may be
// truncated.
func isClean(e Encoding, text []byte) bool {
	decoded, _ := e.toUTF8(text)
	return bytes.Count(decoded, []byte("\ufffd")) <= 1
}

// isDense reports whether letters above ASCII are adjacent, as in non-Latin scripts.
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

var tags = lazyregexp.New(`<[^>]*>`)

// textSample returns text around the first bytes above ASCII, without tags.
func textSample(body []byte) []byte {
	first := bytes.IndexFunc(body, func(r rune) bool { return r >= utf8.RuneSelf })
	body = body[max(0, first-sampleLength/8):]
	text := tags().ReplaceAllLiteral(body[:min(len(body), sampleSearch)], nil)
	return text[:min(len(text), sampleLength)]
}

// isISO2022JP recognises ISO-2022-JP, whose bytes are all ASCII, by the escapes before its characters.
func isISO2022JP(ascii []byte) bool {
	_, after, found := bytes.Cut(ascii, []byte("\x1b$"))
	return found && len(after) > 0 && (after[0] == 'B' || after[0] == '@') && isClean(iso2022JP, ascii[:min(len(ascii), sampleSearch)])
}
