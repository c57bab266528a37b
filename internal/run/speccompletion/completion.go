// Package speccompletion tells what may be written at a place of a spec that is not complete. It consumes a text of
// YAML or JSON and a place in it, and emits names of keys and values that the schema of specs (specfile.Schema) has
// there, and what is known of the key that the place is in.
//
// The text may be broken, before the place and behind it: nothing is asked of the YAML package. The text is read once, from its
// beginning, line by line, with as much memory as collections are open at a time. What cannot be understood has no candidates.
package speccompletion

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"seine/internal/run/specfile"
)

// Answer is what may be written at a place.
type Answer struct {
	// Line has the text that a candidate replaces, from character From to before character To; all count from 1.
	Line int `json:"line"`
	From int `json:"from"`
	To   int `json:"to"`
	// Candidates are those that have what is written before the place, those that begin with it first.
	Candidates []Candidate `json:"candidates"`
	// Key is the one that the place is in, nil for none that is known.
	Key *Key `json:"key,omitempty"`
}

// Candidate is a key or a value.
type Candidate struct {
	Name   string `json:"name"`
	Insert string `json:"insert"` // what is written in the place of the text; it may have line breaks
	Type   string `json:"type"`   // what sort of value a key has, "" of a value
	About  string `json:"about"`  // the first sentence of the description, if there is one
}

// Key is what is known of a key.
type Key struct {
	Path    string `json:"path"` // as in records[].fields.price
	Type    string `json:"type"`
	About   string `json:"about,omitempty"`
	Default string `json:"default,omitempty"` // as JSON, "" for none
}

// Complete tells what may be written in a text before a character of a line; both count from 1, and a line ends at "\n". A
// place behind the end of its line is at that end. The error says that the text is too large, or has no such line.
func Complete(text string, line, column int) (*Answer, error) {
	if len(text) > specfile.MaxSize {
		return nil, fmt.Errorf("the text has %d bytes: a spec has at most %d", len(text), specfile.MaxSize)
	}
	lines := strings.Split(text, "\n")
	if line < 1 || line > len(lines) || column < 1 {
		return nil, fmt.Errorf("line %d, column %d: the text has no such place", line, column)
	}
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	here := lines[line-1]
	r := reader{root: root(), cursorLine: line - 1, cursor: byteOf(here, column)}
	r.read(lines)
	a := &Answer{Line: line, From: column, To: column, Candidates: []Candidate{}}
	if r.found != nil {
		w := wordAt(here, r.found.start, r.found.end, r.cursor)
		a.From, a.To = columnOf(here, w.start), columnOf(here, w.end)
		if a.Candidates = append(a.Candidates, r.found.candidates(w)...); r.found.comma > 0 && len(a.Candidates) > 0 {
			a.From = columnOf(here, r.found.comma) // the comma comes with what is taken
		}
		a.Key = r.found.key
	}
	return a, nil
}

// byteOf is where a character of a line begins, from 1; the end of the line for one behind it.
func byteOf(line string, column int) int {
	for at := range line {
		if column--; column == 0 {
			return at
		}
	}
	return len(line)
}

func columnOf(line string, at int) int { return utf8.RuneCountInString(line[:at]) + 1 }
