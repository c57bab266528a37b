package specfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is an error in a spec.
type Problem struct {
	// Line and Column count from 1, in characters. Both are 0 for problems of the whole file.
	Line, Column int
	// Path is the key, such as records[0].fields.price.css; "" is the whole spec.
	Path string
	// Text describes the error and the correction.
	Text string

	width int    // number of characters to mark in the source line, at least 1
	below string // further lines, about another file

	unknown *unknownKey // nil for other problems
}

// Errors are the problems of a file, in the order of their positions.
type Errors struct {
	Name     string // of the file
	Problems []Problem
	lines    []string
}

// Error returns one line for each problem, in the format of compilers.
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

// maxProblems bounds the number of reported problems.
const maxProblems = 50

// report returns the error for the found problems, nil if there are none.
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
