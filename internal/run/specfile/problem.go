package specfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a spec.
type Problem struct {
	// Line and Column count from 1; a column is a character. Both are 0 where the
	// whole file is meant.
	Line, Column int
	// Path is the key, as in records[0].fields.price.css; "" is the whole spec.
	Path string
	// Text says what is wrong, and what would be right.
	Text string

	width int    // characters that are marked in the source line, at least 1
	below string // lines that say more, of another file

	unknown *unknownKey // nil if something else is wrong
}

// Errors are what is wrong with one file, in the order of their places.
type Errors struct {
	Name     string // of the file
	Problems []Problem
	lines    []string
}

// Error returns a line for each problem, as compilers do.
func (e *Errors) Error() string {
	out := make([]string, len(e.Problems))
	for i := range e.Problems {
		out[i] = e.line(&e.Problems[i])
	}
	return strings.Join(out, "\n")
}

func (e *Errors) line(p *Problem) string {
	line := e.place(p) + ": " + p.message()
	if p.below != "" {
		line += "\n" + p.below
	}
	return line
}

// place returns name:line:column.
func (e *Errors) place(p *Problem) string {
	if p.Line == 0 {
		return e.Name
	}
	return fmt.Sprintf("%s:%d:%d", e.Name, p.Line, p.Column)
}

func (p *Problem) message() string {
	if p.Path == "" {
		return p.Text
	}
	return p.Path + ": " + p.Text
}

// maxProblems is how many problems are reported at once.
const maxProblems = 50

// report makes the error for what was found, nil for nothing.
func report(name string, text []byte, found []Problem) error {
	if len(found) == 0 {
		return nil
	}
	for i := range found {
		found[i].Text = strings.Join(strings.FieldsFunc(found[i].Text, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	}
	slices.SortStableFunc(found, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Path, b.Path))
	})
	found = slices.CompactFunc(found, func(a, b Problem) bool { return a == b })
	if len(found) > maxProblems {
		left := len(found) - maxProblems
		found = append(found[:maxProblems:maxProblems], Problem{Text: fmt.Sprintf("and %d more", left)})
	}
	return &Errors{Name: name, Problems: found, lines: linesOf(text)}
}
