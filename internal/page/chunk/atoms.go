package chunk

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"seine/internal/base/lazyregexp"
	"seine/internal/base/truncate"
)

// atom is a text that is not split further. Consecutive atoms concatenate to their text.
type atom struct {
	text  string
	size  int
	level int // level of the splitter before it, an index in levels
}

func textOf(atoms []atom) string {
	var b strings.Builder
	for i := range atoms {
		b.WriteString(atoms[i].text)
	}
	return b.String()
}

func sizeOf(atoms []atom) (sum int) {
	for i := range atoms {
		sum += atoms[i].size
	}
	return sum
}

// levels are the splitters of a text that is too large, in the order of their use.
var levels = []func(string) []string{blocks, items, lines, sentences, words}

// atomizer splits texts into atoms.
type atomizer struct {
	count func(string) int
	limit int // maximum size of an atom
}

// maxPerUnit is an upper bound of the bytes in a character, and in most words and tokens: longer
// texts are too large without counting.
const maxPerUnit = 16

func (a atomizer) mayFit(text string, limit int) bool { return len(text) <= maxPerUnit*limit }

// of returns the atoms of a text, split at this level and later ones.
func (a atomizer) of(text string, level int) []atom {
	if a.mayFit(text, a.limit) {
		if n := a.count(text); n <= a.limit {
			return []atom{{text, n, level}}
		}
	}
	for ; level < len(levels); level++ {
		if f, ok := frameOf(text); ok && level == 1 {
			return a.framed(text, f)
		}
		if pieces := levels[level](text); len(pieces) > 1 {
			return a.ofAll(pieces, level)
		}
	}
	if pieces := cut(text, a.limit/2); len(pieces) > 1 {
		return a.ofAll(pieces, level)
	}
	return []atom{{text, a.count(text), level}}
}

// ofAll returns the atoms of the pieces into which a level has split a text.
func (a atomizer) ofAll(pieces []string, level int) (all []atom) {
	for _, t := range pieces {
		next := a.of(t, level+1)
		next[0].level = level
		all = append(all, next...)
	}
	return all
}

// blocks splits at blank lines, except in code and before the indented lines of a list.
func blocks(text string) []string { return flush(text, true) }

// items splits before lines that are not indented.
func items(text string) []string { return flush(text, false) }

// flush splits before lines that are not indented: all of them, or only those after a blank line.
func flush(text string, afterBlank bool) (all []string) {
	begin, at, isBlank := 0, 0, false
	for line, inCode := range linesOf(text) {
		if (isBlank || !afterBlank) && at > begin && !inCode && line != "" && strings.TrimLeft(line, " \t\r\n") == line {
			all, begin = append(all, text[begin:at]), at
		}
		isBlank = strings.TrimSpace(line) == ""
		at += len(line)
	}
	return append(all, text[begin:])
}

// linesOf yields the lines of a text, and whether they are in a block of code, after its first
// line.
func linesOf(text string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		fence := ""
		for line := range strings.SplitAfterSeq(text, "\n") {
			if !yield(line, fence != "") {
				return
			}
			trimmed := strings.TrimSpace(line)
			mark := fenceOf(strings.TrimLeft(trimmed, "> "))
			switch {
			case fence == "":
				fence = mark
			case strings.HasPrefix(mark, fence) && strings.HasSuffix(trimmed, mark):
				fence = ""
			}
		}
	}
}

// fenceOf returns the ``` or ~~~ that a line begins with, or "".
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if rest := strings.TrimLeft(line, c); len(line)-len(rest) >= 3 {
			return line[:len(line)-len(rest)]
		}
	}
	return ""
}

func lines(text string) []string { return slices.DeleteFunc(strings.SplitAfter(text, "\n"), isEmpty) }

func isEmpty(s string) bool { return s == "" }

var sentenceEnd = lazyregexp.New(`[.!?…]["'”’)\]*_]*\s+|[。！？]["'”’」』）]*\s*`)

func sentences(text string) []string {
	return splitAt(text, func(yield func(int) bool) {
		for _, m := range sentenceEnd().FindAllStringIndex(text, -1) {
			if !yield(m[1]) {
				return
			}
		}
	})
}

// words splits before each word. Each Chinese or Japanese character is a word.
func words(text string) []string { return splitAt(text, wordStarts(text)) }

// splitAt splits a text at these positions, so that no piece is white space.
func splitAt(text string, places iter.Seq[int]) (all []string) {
	begin := 0
	for at := range places {
		if strings.TrimSpace(text[begin:at]) != "" && at < len(text) {
			all, begin = append(all, text[begin:at]), at
		}
	}
	return append(all, text[begin:])
}

// Words returns the number of words in a text.
func Words(text string) (n int) {
	for range wordStarts(text) {
		n++
	}
	return n
}

// firstOwn precedes all characters that are words by themselves.
const firstOwn = 0x2E80

func wordStarts(text string) iter.Seq[int] {
	return func(yield func(int) bool) {
		isApart := true // the next character begins a word
		for at, r := range text {
			isOwn := r >= firstOwn && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
			isSpace := unicode.IsSpace(r)
			if !isSpace && (isApart || isOwn) && !yield(at) {
				return
			}
			isApart = isSpace || isOwn
		}
	}
}

// cut splits a word into pieces of at most this many bytes, or of one character. Their size in any
// unit is not larger.
func cut(word string, most int) (all []string) {
	for {
		_, first := utf8.DecodeRuneInString(word)
		n := max(len(truncate.To(word, most)), first)
		all = append(all, word[:n])
		if word = word[n:]; word == "" {
			return all
		}
	}
}

// frame is code or a table. Parts of it need its first lines and its last one.
type frame struct{ before, body, after string }

var tableRule = lazyregexp.New(`^\|[-:| ]+$`)

// frameOf returns the frame of a block that is code or a table.
func frameOf(block string) (f frame, ok bool) {
	all := lines(strings.TrimRight(block, "\n"))
	last := len(all) - 1
	fence := fenceOf(block)
	switch {
	case last > 1 && fence != "" && strings.TrimSpace(all[last]) == fence:
		return frame{all[0], strings.Join(all[1:last], ""), fence}, true
	case last > 1 && all[0][0] == '|' && tableRule().MatchString(strings.TrimSpace(all[1])):
		return frame{all[0] + all[1], strings.Join(all[2:], ""), ""}, true
	}
	return f, false
}

// around returns a part of the body as a block.
func (f frame) around(part string) string {
	return strings.TrimRight(f.before+strings.TrimSuffix(part, "\n")+"\n"+f.after, "\n") + "\n\n"
}

// framed returns the parts of code or a table, each with its fences or header. If these take half
// of the limit, the parts lack them.
func (a atomizer) framed(block string, f frame) (all []atom) {
	in := atomizer{a.count, a.limit - a.count(f.around(""))}
	if 2*in.limit < a.limit {
		return a.ofAll(lines(block), 2)
	}
	for _, g := range in.pack(in.ofAll(lines(f.body), 2)) {
		text := f.around(textOf(g))
		if n := a.count(text); n <= a.limit {
			g = []atom{{text, n, 1}}
		}
		all = append(all, g...)
	}
	return all
}
