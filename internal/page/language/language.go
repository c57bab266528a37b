// Package language detects the language of a text that does not declare one. It returns the primary
// tag of BCP 47, or "" if it is not sure.
//
// If only one common web language uses a script, the script identifies it (Greek, Korean, Thai and
// others; Japanese by its Kana). Languages in Latin, Cyrillic, Arabic and Devanagari script are
// distinguished by their most common words, such as articles and pronouns, and by letters that few
// of them have. A sentence or two is needed: menus, tables, names and programs have few such words,
// and have no result. Unknown languages have no result either, or that of the only known language
// in their script.
//
// The same text always has the same result. Only a sample of a long text is read, so time is
// bounded. The word lists are prepared for the first text.
package language

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of the sample: enough text to identify the language, from three positions away from the
// ends, since pages begin with menus and end with notices.
const (
	parts    = 3
	partSize = 2048 // bytes
)

// Thresholds for a sure result. They were determined with the texts of the tests: with lower ones,
// lists of names and programs are detected as languages.
const (
	minLetters = 24   // in alphabets
	minSigns   = 8    // in scripts whose letters are words or syllables
	minScript  = 0.7  // share of one script among all letters
	minWords   = 3    // known words
	minShare   = 0.14 // share of them among all words
	minLead    = 1.25 // factor over the next language
	minKana    = 0.05 // share of Kana among the letters of Japanese
)

// Detect returns the language of a text, or "" if it is not sure. Norwegian is "no" in both written
// forms; Serbian in Latin letters, Bosnian and Croatian are "hr"; Malay is "id".
func Detect(text string) string {
	d := detector{tables: tablesOnce()}
	for _, part := range sample(text) {
		d.read(part)
	}
	return d.result()
}

// sample returns the parts of a text that are read.
func sample(text string) []string {
	if len(text) <= parts*partSize {
		return []string{text}
	}
	found := make([]string, parts)
	for i := range found {
		start := (len(text) - partSize) / (parts + 1) * (i + 1)
		end := start + partSize
		for start > 0 && start < len(text) && !utf8.RuneStart(text[start]) {
			start++
		}
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end++
		}
		found[i] = text[start:end]
	}
	return found
}

// detector counts the letters and words of a text.
type detector struct {
	tables  *tables
	letters int
	blocks  [len(blocks)]int
	words   int
	known   [languageCount]int
	scores  [languageCount]float64
}

// read counts letters and words. A word consists of letters and marks; an apostrophe ends it.
func (d *detector) read(text string) {
	start := -1
	for i, r := range text {
		if unicode.IsLetter(r) || unicode.IsMark(r) || r == '\u200c' {
			d.letter(r)
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			d.word(text[start:i])
			start = -1
		}
	}
	if start >= 0 {
		d.word(text[start:])
	}
}

func (d *detector) letter(r rune) {
	d.letters++
	d.blocks[blockOf(r)]++
	if r >= utf8.RuneSelf {
		having := d.tables.letters[unicode.ToLower(r)]
		for _, l := range having {
			d.scores[l] += letterWeight / float64(len(having))
		}
	}
}

// letterWeight is the weight of a letter that few languages have, relative to a word that only one
// language has.
const letterWeight = 0.4

// maxWord bounds the words that are looked up.
const maxWord = 32

func (d *detector) word(word string) {
	d.words++
	if len(word) > maxWord {
		return
	}
	having := d.tables.words[strings.ToLower(word)]
	for _, l := range having {
		d.known[l]++
		d.scores[l] += 1 / float64(len(having))
	}
}

func (d *detector) result() string {
	scripts := make(map[string]int, 4)
	script, count := "", 0
	for i, n := range d.blocks {
		name := blocks[i].script
		if n == 0 || name == "" {
			continue
		}
		if scripts[name] += n; scripts[name] > count {
			script, count = name, scripts[name]
		}
	}
	if han := scripts[scriptHan] + scripts[scriptKana]; han > count {
		script, count = scriptHan, han
	}
	if count < minSigns || float64(count) < minScript*float64(d.letters) {
		return ""
	}
	switch {
	case script == scriptKana || script == scriptHan && float64(scripts[scriptKana]) > minKana*float64(count):
		return "ja"
	case script == scriptHan:
		return "zh"
	case isAlone(script):
		return script
	case count < minLetters:
		return ""
	}
	return d.best()
}

// best returns the language with the highest score, if that is high enough and far ahead of the
// others.
func (d *detector) best() string {
	first, second := 0, 0.0
	for l := 1; l < languageCount; l++ {
		if d.scores[l] > d.scores[first] {
			second = d.scores[first]
			first = l
		} else {
			second = max(second, d.scores[l])
		}
	}
	share := float64(d.known[first]) / float64(d.words)
	if d.known[first] < minWords || share < minShare || d.scores[first] < minLead*second {
		return ""
	}
	return lists[first].tag
}
