// Package simhash computes 64-bit hashes of texts that differ in few bits for texts that differ
// little: the simhash of Charikar ("Similarity estimation techniques from rounding algorithms",
// 2002), which Manku and others used to find near duplicates of pages ("Detecting near-duplicates
// for web crawling", 2007; they found three differing bits to be right for pages).
//
// A text is split into words: Unicode letters, marks and digits, in lower case. In scripts without
// spaces (Han, Kana, Thai, Lao, Khmer, Burmese) every letter, with its marks, is a word. Each three
// consecutive words are one feature, counted as often as they occur, with equal weights. Each bit
// of the result is that of most features' hashes. Punctuation, spaces and markup do not count.
//
// Results do not change between versions: they are stored and compared later. A text is read once,
// in constant memory.
package simhash

import (
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// MinWords is the number of words that a text needs for comparisons: with fewer, one more or less
// changes half the bits, and common phrases make unrelated texts similar.
const MinWords = 16

// shingle is the number of consecutive words in a feature.
const shingle = 3

// Of returns the hash of a text, or 0 if it has fewer than MinWords words.
func Of(text string) uint64 {
	var h Hash
	h.WriteString(text)
	return h.Sum()
}

// Hash hashes a text in parts. The zero value is an empty text.
type Hash struct {
	word  uint64          // hash of the current word, 0 between words
	last  [shingle]uint64 // hashes of the last words
	words uint64
	// planes count the features that have a bit set, for all 64 bits at once: plane i holds bit i
	// of each count. This way adding a hash takes a few operations instead of 64.
	planes [40]uint64
}

// primes of FNV-1a (64 bits).
const (
	offset = 14695981039346656037
	prime  = 1099511628211
)

// ascii maps bytes to their lower case in a word, 0 for bytes that end one.
var ascii = func() (table [utf8.RuneSelf]byte) {
	for c := range table {
		if r := unicode.ToLower(rune(c)); r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			table[c] = byte(r)
		}
	}
	return table
}()

// WriteString hashes the next part of the text. A word may continue in the next part, a character
// may not.
func (h *Hash) WriteString(s string) {
	word, table := h.word, characters()
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			i++
			if low := ascii[c]; low != 0 {
				word = more(word, uint64(low))
			} else if word != 0 {
				h.add(word)
				word = 0
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		word = h.rune(word, table.of(r))
	}
	h.word = word
}

// more returns the hash of a word with one more character, FNV-1a.
func more(word, c uint64) uint64 {
	if word == 0 {
		word = offset
	}
	return (word ^ c) * prime
}

// add adds the hash of a word.
func (h *Hash) add(word uint64) {
	h.last[0], h.last[1], h.last[2] = h.last[1], h.last[2], word
	h.words++
	if h.words < shingle {
		return
	}
	carry := mix(h.last[0]*3 + bits.RotateLeft64(h.last[1], 21)*5 + bits.RotateLeft64(h.last[2], 42)*7)
	for i := range h.planes {
		if carry == 0 {
			return
		}
		h.planes[i], carry = h.planes[i]^carry, h.planes[i]&carry
	}
}

// mix makes every bit of the result depend on every bit of x: the finalizer of MurmurHash3.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// Sum ends the text and returns its hash, or 0 if it has fewer than MinWords words. The hash of a
// longer text is never 0.
func (h *Hash) Sum() uint64 {
	if h.word != 0 {
		h.add(h.word)
		h.word = 0
	}
	if h.words < MinWords {
		return 0
	}
	half, sum := (h.words-shingle+1)/2, uint64(0)
	for bit := range 64 {
		count := uint64(0)
		for i, plane := range h.planes {
			count |= plane >> bit & 1 << i
		}
		if count > half {
			sum |= 1 << bit
		}
	}
	return max(sum, 1)
}
