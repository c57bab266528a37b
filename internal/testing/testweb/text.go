package testweb

import "strings"

// Sizes of the vocabulary: small enough for a processor's cache, large enough that pages differ.
const (
	wordCount     = 512
	sentenceCount = 1024
)

// vocabulary is the pseudo-language of one seed. Pages are cheap because they are composed of
// complete sentences: a page is some hundred copies of short strings.
type vocabulary struct {
	words     []string // lower-case ASCII, consonant and vowel alternating, four letters or more
	sentences []string // HTML, ready to write
}

func newVocabulary(seed uint64) *vocabulary {
	r := rng(mix(seed, saltText))
	v := &vocabulary{}
	for range wordCount {
		v.words = append(v.words, newWord(&r))
	}
	for range sentenceCount {
		v.sentences = append(v.sentences, v.newSentence(&r))
	}
	return v
}

// newWord alternates consonants and vowels, so no word can be a reserved path such as "static" or "missing".
func newWord(r *rng) string {
	const consonants, vowels = "bcdfglmnprstvz", "aeiou"
	var b strings.Builder
	for range 2 + r.intn(3) {
		b.WriteByte(consonants[r.intn(len(consonants))])
		b.WriteByte(vowels[r.intn(len(vowels))])
	}
	return b.String()
}

func (v *vocabulary) newSentence(r *rng) string {
	var b strings.Builder
	n := 6 + r.intn(12)
	for i := range n {
		word := v.words[r.intn(wordCount)]
		if i == 0 {
			word = capital(word)
		} else {
			b.WriteByte(' ')
		}
		b.WriteString(decorate(r, word))
	}
	b.WriteString(". ")
	return b.String()
}

// decorate gives a few words the features of real text: markup, entities, letters outside ASCII.
func decorate(r *rng, word string) string {
	switch r.intn(60) {
	case 0:
		return "<em>" + word + "</em>"
	case 1:
		return word + " &amp; co"
	case 2:
		return "caf\u00e9 " + word
	case 3:
		return "d&eacute;j&agrave; " + word
	case 4:
		return word + " &mdash;"
	case 5:
		return word + ","
	}
	return word
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
