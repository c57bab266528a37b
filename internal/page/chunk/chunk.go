// Package chunk splits Markdown into chunks of limited size, for search and retrieval.
//
// A section that fits is one chunk, including all sections below it. A larger one is split between
// its paragraphs, list items, lines of code and table rows, then between sentences, words and
// characters. So no chunk exceeds the size, and none has parts of two sections of the same level.
//
// The text determines the end of a chunk among the possible positions in its second half: inserting
// or removing a paragraph changes one or two chunks, and not all that follow.
package chunk

import (
	"hash/fnv"
	"strings"
)

// Part is a section without the sections below it.
type Part struct {
	Level      int    // of its heading, 1 to 6; 0 before the first heading
	Breadcrumb string // headings above it, and its own
	Anchor     string
	Markdown   string // including its heading
}

// Chunk is a chunk of a page.
type Chunk struct {
	Breadcrumb, Anchor string
	Text               string // Markdown
	Size               int
}

// Options set the size of chunks.
type Options struct {
	Size    int              // maximum size of a chunk
	Overlap int              // maximum size of the repeated end of the previous chunk, within a section
	Count   func(string) int // returns the size of a text
}

// Split returns the chunks of the sections of a page, in their order.
func (o Options) Split(parts []Part) []Chunk {
	s := &splitter{Options: o, atoms: atomizer{o.Count, o.Size - o.Overlap}}
	if n := subtree(parts); n > 0 && n == len(parts) {
		s.group(parts[0], parts[1:])
	} else {
		s.group(Part{}, parts)
	}
	return s.chunks
}

// splitter makes the chunks of a page.
type splitter struct {
	Options
	atoms  atomizer
	chunks []Chunk
}

// subtree returns the number of parts that are the first one or below it.
func subtree(parts []Part) int {
	for i := range parts {
		if i > 0 && parts[i].Level <= parts[0].Level {
			return i
		}
	}
	return len(parts)
}

// group makes one chunk of a part and those below it, or separate chunks.
func (s *splitter) group(root Part, below []Part) {
	if text := joined(root, below); s.atoms.mayFit(text, s.Size) {
		if n := s.Count(text); n <= s.Size {
			s.add(root, text, n)
			return
		}
	}
	if len(below) == 0 || !isHeading(root.Markdown) {
		s.split(root)
	}
	for len(below) > 0 {
		n := subtree(below)
		s.group(below[0], below[1:n])
		below = below[n:]
	}
}

func joined(root Part, below []Part) string {
	text := clean(root.Markdown)
	for i := range below {
		text += "\n\n" + clean(below[i].Markdown)
	}
	return clean(text)
}

// clean trims white space from a text, but not the indentation of its first line.
func clean(text string) string { return strings.TrimRight(strings.TrimLeft(text, "\r\n"), " \t\r\n") }

// isHeading reports whether a text is only a heading, which breadcrumbs contain.
func isHeading(text string) bool {
	return strings.HasPrefix(text, "#") && !strings.Contains(clean(text), "\n") || clean(text) == ""
}

// split makes the chunks of one part.
func (s *splitter) split(p Part) {
	groups := s.atoms.pack(s.atoms.of(p.Markdown, 0))
	for i, g := range groups {
		before := ""
		if i > 0 {
			before = s.tail(groups[i-1])
		} else if len(groups) > 1 && isHeading(textOf(g)) {
			continue
		}
		s.emit(p, before, g)
	}
}

// emit makes a chunk of atoms, with the end of the previous chunk. A text may have more tokens than
// its atoms together.
func (s *splitter) emit(p Part, before string, atoms []atom) {
	own := textOf(atoms)
	for _, text := range []string{clean(before + own), clean(own)} {
		if n := s.Count(text); n <= s.Size || len(atoms) == 1 && text == clean(own) {
			s.add(p, text, n)
			return
		}
	}
	half := len(atoms) / 2
	s.emit(p, "", atoms[:half])
	s.emit(p, "", atoms[half:])
}

func (s *splitter) add(p Part, text string, size int) {
	if text != "" {
		s.chunks = append(s.chunks, Chunk{Breadcrumb: p.Breadcrumb, Anchor: p.Anchor, Text: text, Size: size})
	}
}

// tail returns the end of a chunk that the next one repeats, never the whole chunk.
func (s *splitter) tail(atoms []atom) string {
	if s.Overlap == 0 || sizeOf(atoms) <= s.Overlap {
		return ""
	}
	small := atomizer{s.Count, s.Overlap}
	text, left := "", s.Overlap
	for i := len(atoms) - 1; i >= 0; i-- {
		pieces := small.of(atoms[i].text, 0)
		for j := len(pieces) - 1; j >= 0; j-- {
			if left -= pieces[j].size; left < 0 {
				return text
			}
			text = pieces[j].text + text
		}
	}
	return text
}

// pack joins atoms into groups that do not exceed the limit.
func (a atomizer) pack(atoms []atom) (groups [][]atom) {
	for len(atoms) > 0 {
		n := a.cut(atoms)
		groups = append(groups, atoms[:n])
		atoms = atoms[n:]
	}
	return groups
}

// cut returns the number of atoms in the first group: all that fit, or those before the best
// position in its second half.
func (a atomizer) cut(atoms []atom) int {
	sum, best := 0, 0
	for i := range atoms {
		if i > 0 && 2*sum >= a.limit && (best == 0 || atoms[i].isBetterStart(&atoms[best])) {
			best = i
		}
		if sum += atoms[i].size; i > 0 && sum > a.limit {
			if best == 0 {
				return i
			}
			return best
		}
	}
	return len(atoms)
}

// isBetterStart reports whether a chunk should rather begin with this atom than with b: with a
// paragraph rather than a sentence and, on the same level, with the smaller hash.
func (a *atom) isBetterStart(b *atom) bool {
	if a.level != b.level {
		return a.level < b.level
	}
	return a.hash() < b.hash()
}

func (a *atom) hash() uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(a.text))
	return h.Sum64()
}
