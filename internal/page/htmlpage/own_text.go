package htmlpage

import (
	"encoding/binary"
	"math/bits"
	"strings"

	"seine/internal/base/ascii"
)

// ownText finds the text that is specific to the page: text outside links, without numbers, codes,
// and words of the page's URL. A server that makes up a page for any URL distinguishes its pages
// only by these.
//
// Words are runs of ASCII letters, digits and non-ASCII characters, without regard to ASCII case.
// In a script without spaces, a whole clause is one word.
type ownText struct {
	linked []linkText // text in links
	inLink bool
}

// linkText is the position of a link's text.
type linkText struct{ from, to int }

// enterLink reads the start tag of a link, or of an anchor that is not one. Both end an open link.
func (o *ownText) enterLink(at int, isLink bool) {
	o.leaveLink(at)
	if isLink {
		o.inLink = true
		o.linked = append(o.linked, linkText{from: at})
	}
}

// leaveLink ends the open link, if any. It drops a link without text, and joins links that are
// separated only by space.
func (o *ownText) leaveLink(at int) {
	if !o.inLink {
		return
	}
	o.inLink = false
	last := len(o.linked) - 1
	switch {
	case o.linked[last].from == at:
		o.linked = o.linked[:last]
	case last > 0 && o.linked[last-1].to == o.linked[last].from:
		o.linked[last-1].to = at
		o.linked = o.linked[:last]
	default:
		o.linked[last].to = at
	}
}

func (o *ownText) reset() {
	if cap(o.linked) > maxPooled {
		o.linked = nil
	}
	o.linked, o.inLink = o.linked[:0], false
}

// print returns the fingerprint of the page's own text.
func (o *ownText) print(text []byte, pageURL string) uint64 {
	o.leaveLink(len(text))
	var known wordSet
	known.addURL(pageURL)
	h, at := uint64(contentSeed), 0
	for _, l := range o.linked {
		h = printWords(text[at:l.from], &known, h)
		at = l.to
	}
	h = printWords(text[at:], &known, h)
	if h == 0 {
		return contentSeed
	}
	return h
}

// contentSeed is the fingerprint of a page without distinguishing text.
const contentSeed = 0x5e1ec0de5e1ec0de

// Words of eight equal bytes.
const (
	each  = 0x0101010101010101
	highs = 0x80 * each
	lows  = 0x7f * each
	lower = 0x20 * each
)

// printWords adds the words of a text to a fingerprint. It finds word boundaries 64 bytes at a
// time, independently of the processing of each word.
func printWords(text []byte, known *wordSet, h uint64) uint64 {
	var last [64]byte
	start, inWord := 0, uint64(0)
	for base := 0; base < len(text); base += 64 {
		block := text[base:]
		if len(block) < 64 {
			copy(last[:], block)
			block = last[:]
		}
		words := wordBits(block)
		for edges := words ^ (words<<1 | inWord); edges != 0; edges &= edges - 1 {
			at := base + bits.TrailingZeros64(edges)
			if inWord ^= 1; inWord == 1 {
				start = at
			} else {
				h = printWord(text, start, at, known, h)
			}
		}
	}
	if inWord == 1 {
		h = printWord(text, start, len(text), known, h)
	}
	return h
}

// wordBits has a bit for each of 64 bytes that is set if the byte is in a word; the first byte has
// the lowest bit.
func wordBits(block []byte) (words uint64) {
	const gather = 0x0102040810204080 // moves the lowest bits of eight bytes to the top byte
	block = block[:64]
	for i := 0; i < 64; i += 8 {
		_, word := classify(binary.LittleEndian.Uint64(block[i:]))
		words |= (word >> 7 * gather) >> 56 << i
	}
	return words
}

// classify sets the high bits of the bytes that are digits, and of those that are in words. No sum
// below overflows a byte.
func classify(x uint64) (digit, word uint64) {
	y := x & lows
	l := y | lower
	digit = (y + (0x80-'0')*each) &^ (y + (0x7f-'9')*each) &^ x & highs
	letter := (l + (0x80-'a')*each) &^ (l + (0x7f-'z')*each)
	return digit, (digit | letter | x) & highs
}

// printWord adds the word text[from:to].
func printWord(text []byte, from, to int, known *wordSet, h uint64) uint64 {
	n := to - from
	var w uint64
	if n < 8 && from+8 <= len(text) { // most words
		x := binary.LittleEndian.Uint64(text[from:])
		mask := uint64(1)<<(8*n) - 1
		if digit, _ := classify(x); digit&mask == highs&mask {
			return h
		}
		w = mixWord(uint64(n), x&mask|lower)
	} else {
		if isNumberOrCode(text[from:to]) {
			return h
		}
		w = hashWord(text, from, to)
	}
	if known.mask>>(w>>58)&1 != 0 && known.has(w) {
		return h
	}
	return mixWord(h, w)
}

func isNumberOrCode(word []byte) bool {
	kinds := uint8(0)
	for _, c := range word {
		kinds |= wordClass[c]
	}
	return kinds == wordDigit || kinds&wordDigit != 0 && len(word) >= longestModel
}

// longestModel is the length from which a word with digits is a code; shorter ones are names of
// things. printWord relies on it.
const longestModel = 8

// Kinds of bytes in words.
const (
	wordLetter = 1 << iota // and any non-ASCII byte
	wordDigit
)

var wordClass = func() (c [256]uint8) {
	for b := range c {
		switch {
		case has(byte(b), isLetter), b >= 0x80:
			c[b] = wordLetter
		case has(byte(b), isDigit):
			c[b] = wordDigit
		}
	}
	return c
}()

// hashWord hashes text[from:to] eight bytes at a time. Setting one bit of each byte converts
// letters to lower case, keeps digits, and changes non-ASCII bytes in the same way for all words.
func hashWord(text []byte, from, to int) uint64 {
	h := uint64(to - from)
	for ; to-from > 8; from += 8 {
		h = mixWord(h, binary.LittleEndian.Uint64(text[from:])|lower)
	}
	var tail uint64
	if from+8 <= len(text) {
		tail = binary.LittleEndian.Uint64(text[from:]) << (8 * (8 - (to - from))) >> (8 * (8 - (to - from)))
	} else {
		for i := from; i < to; i++ {
			tail |= uint64(text[i]) << (8 * (i - from))
		}
	}
	return mixWord(h, tail|lower)
}

func mixWord(h, w uint64) uint64 {
	hi, lo := bits.Mul64(h^0x9e3779b97f4a7c15, w^0xbf58476d1ce4e5b9)
	return hi ^ lo
}

// wordSet is the set of words of a URL.
type wordSet struct {
	mask  uint64 // lets most words skip the search
	words [maxURLWords]uint64
	n     int
}

// maxURLWords bounds the words of a URL that are considered.
const maxURLWords = 64

func (s *wordSet) has(w uint64) bool {
	if s.mask&(1<<(w>>58)) == 0 {
		return false
	}
	for _, x := range s.words[:s.n] {
		if x == w {
			return true
		}
	}
	return false
}

// addURL adds the words of the path and the query.
func (s *wordSet) addURL(u string) {
	if i := strings.Index(u, "://"); i >= 0 {
		u = u[i+len("://"):]
	}
	i := strings.IndexByte(u, '/')
	if i < 0 {
		return
	}
	var buf [256]byte
	text := decodePercent(buf[:0], u[i:])
	for i := 0; i < len(text); {
		start := i
		for i < len(text) && wordClass[text[i]] != 0 {
			i++
		}
		if i > start && s.n < maxURLWords {
			w := hashWord(text, start, i)
			s.words[s.n], s.mask = w, s.mask|1<<(w>>58)
			s.n++
		}
		i++
	}
}

// decodePercent appends s with its percent-escapes decoded.
func decodePercent(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c, escaped := ascii.Unescape(s[i:])
		if escaped {
			i += 2
		} else {
			c = s[i]
		}
		b = append(b, c)
	}
	return b
}
