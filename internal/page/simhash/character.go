package simhash

import (
	"sync"
	"unicode"
)

// character is the role of a character in words.
type character struct {
	low  rune // in lower case
	kind kind
}

type kind uint8

const (
	between kind = iota // ends a word
	within              // is ignored within a word
	mark                // belongs to the preceding letter, and begins no word
	letter              // or digit
	alone               // is a word by itself, with the marks that follow
)

// rune reads a non-ASCII character, and returns the hash of the word that is open after it.
func (h *Hash) rune(word uint64, c character) uint64 {
	switch {
	case c.kind == letter:
		return more(word, uint64(c.low))
	case word == 0 && c.kind != alone, c.kind == within:
		return word
	case c.kind == mark:
		return more(word, uint64(c.low))
	}
	if word != 0 {
		h.add(word)
	}
	if c.kind == alone {
		return more(0, uint64(c.low))
	}
	return 0
}

// table has the characters of most scripts: lookups in Unicode's own tables would make a text take
// several times as long.
type table [tableSize]character

// tableSize ends after Kana. Han and Hangul after it are whole ranges.
const tableSize = 0x3400

// characters builds the table for the first text.
var characters = sync.OnceValue(func() *table {
	t := new(table)
	for r := range t {
		t[r] = classify(rune(r))
	}
	return t
})

func (t *table) of(r rune) character {
	switch {
	case r < tableSize:
		return t[r]
	case r <= 0x4dbf, r >= 0x4e00 && r <= 0x9fff: // Han
		return character{r, alone}
	case r >= 0xac00 && r <= 0xd7a3: // Hangul
		return character{r, letter}
	}
	return classify(r)
}

// unspaced are the blocks of the scripts without spaces between words.
var unspaced = [...]struct{ first, last rune }{
	{0x0e00, 0x0eff},   // Thai, Lao
	{0x1000, 0x109f},   // Myanmar
	{0x1780, 0x17ff},   // Khmer
	{0x2e80, 0x2fdf},   // CJK radicals
	{0x3005, 0x3007},   // iteration mark, zero
	{0x3041, 0x30ff},   // Hiragana, Katakana
	{0x3100, 0x312f},   // Bopomofo
	{0x31f0, 0x31ff},   // Katakana extensions
	{0x3400, 0x4dbf},   // Han, extension A
	{0x4e00, 0x9fff},   // Han
	{0xf900, 0xfaff},   // Han, compatibility
	{0xff66, 0xff9d},   // Katakana, half width
	{0x20000, 0x3ffff}, // Han, further extensions
}

func classify(r rune) character {
	switch {
	case r == '\u00ad' || r == '\u200c' || r == '\u200d': // soft hyphen, joiners
		return character{r, within}
	case unicode.IsMark(r):
		return character{r, mark}
	case unicode.IsLetter(r):
		for _, u := range unspaced {
			if r >= u.first && r <= u.last {
				return character{r, alone}
			}
		}
		return character{unicode.ToLower(r), letter}
	case unicode.IsDigit(r):
		return character{r, letter}
	}
	return character{}
}
