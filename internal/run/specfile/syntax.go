package specfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"seine/internal/base/lazyregexp"
)

// parse returns the tree of a text, nil for an empty one.
func parse(text []byte) (*yaml.Node, []Problem) {
	if len(text) > MaxSize {
		return nil, []Problem{{Text: fmt.Sprintf("has %d bytes: a spec has at most %d", len(text), MaxSize)}}
	}
	if p, ok := notText(text); !ok {
		return nil, []Problem{p}
	}
	l, err := yaml.NewLoader(strings.NewReader(string(text)))
	if err != nil {
		return nil, []Problem{{Text: err.Error()}}
	}
	var doc, next yaml.Node
	switch err := l.Load(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, syntax(err, text)
	}
	switch err := l.Load(&next); {
	case err == nil:
		return nil, []Problem{{Line: next.Line, Column: next.Column, Text: `a second document begins with "---": a file has one spec`}}
	case !errors.Is(err, io.EOF):
		return nil, syntax(err, text)
	}
	root := &doc
	if doc.Kind == yaml.DocumentNode {
		root = doc.Content[0]
	}
	if isNull(root) {
		return nil, nil
	}
	return root, nil
}

// notText finds the first character that YAML does not permit (YAML 1.2.2, 5.1). The YAML package
// does not report its position.
func notText(text []byte) (Problem, bool) {
	line, column := 1, 1
	for rest := text; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		p := Problem{Line: line, Column: column}
		switch {
		case r == utf8.RuneError && n == 1:
			p.Text = fmt.Sprintf("byte 0x%02x is not UTF-8: save the file as UTF-8", rest[0])
			return p, false
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0x7f, r >= 0x80 && r < 0xa0 && r != 0x85, r == 0xfffe, r == 0xffff:
			p.Text = fmt.Sprintf("control character U+%04X: take it away", r)
			return p, false
		}
		if column++; strings.ContainsRune("\n\r\u0085\u2028\u2029", r) && !bytes.HasPrefix(rest, []byte("\r\n")) {
			line, column = line+1, 1
		}
		rest = rest[n:]
	}
	return Problem{}, true
}

// breaks matches line breaks as the YAML package counts them, which include those of YAML 1.1
// (4.1.4).
var breaks = lazyregexp.New(`\r\n|[\n\r\x{85}\x{2028}\x{2029}]`)

// linesOf splits a text into lines, as the positions of problems count them.
func linesOf(text []byte) []string { return breaks().Split(string(text), -1) }

// loadErrors returns the individual errors of the YAML package.
func loadErrors(err error) []*yaml.LoadError {
	if all, ok := errors.AsType[*yaml.LoadErrors](err); ok {
		return all.Errors
	}
	if one, ok := errors.AsType[*yaml.LoadError](err); ok {
		return []*yaml.LoadError{one}
	}
	return []*yaml.LoadError{{Message: err.Error()}}
}

// syntax converts errors of the YAML package to readable problems.
func syntax(err error, text []byte) []Problem {
	lines := linesOf(text)
	var out []Problem
	for _, e := range loadErrors(err) {
		p := Problem{width: 1}
		p.Text, p.Line, p.Column = explain(e, lines)
		p.Line, p.Column = clampPosition(lines, p.Line, p.Column)
		out = append(out, p)
	}
	return out
}

// clampPosition moves a position beyond the end of the text to its end.
func clampPosition(lines []string, line, column int) (int, int) {
	if line < 1 {
		return 0, 0
	}
	if line <= len(lines) {
		return line, max(column, 1)
	}
	line = len(lines)
	return line, utf8.RuneCountInString(lines[line-1]) + 1
}

// explain translates a message of the YAML scanner for the author of a spec, and returns the
// position of the mistake.
func explain(e *yaml.LoadError, lines []string) (text string, line, column int) {
	line, column = e.Mark.Line, e.Mark.Column
	began := func() { line, column = e.ContextMark.Line, e.ContextMark.Column }
	here := at(lines, line, column)
	has := func(part string) bool { return strings.Contains(e.Message, part) }
	switch {
	case has("tab character"), has("cannot start any token") && here == '\t':
		return "a tab: YAML is indented with spaces", line, column
	case has("cannot start any token"):
		return fmt.Sprintf("%q cannot begin a text: put the text in quotes", string(here)), line, column
	case has("unknown anchor"):
		return `"*" starts an alias here, and no such anchor exists: quote a text that starts with "*"`, line, column
	case has("alphabetic or numeric character"):
		return fmt.Sprintf("%q begins a name here: put a text that begins so in quotes", string(at(lines, line, column-1))), line, max(1, column-1)
	case has("mapping values are not allowed"):
		return `": " once more in one line: put the text in quotes, or check the indentation`, line, column
	case has("unexpected end of stream"), has("unexpected document indicator"):
		began()
		return "this quote has no end", line, column
	case has("could not find expected ':'"):
		began()
		return `this is not a key: ":" and a space are missing, or quotes around it`, line, column
	case has("',' or"):
		began()
		if i := commented(lines, line); i > 0 {
			return `"#" begins a comment here: put the text in quotes`, line, i
		}
		return fmt.Sprintf("this %s has no end, or a comma is missing in it", string(at(lines, line, column))), line, column
	case has("unknown escape"):
		return `"\" and this letter mean nothing in double quotes: use single quotes, as in '\d+'`, line, column
	case has("expected '-' indicator"), has("expected key"):
		return "this does not belong here: check the indentation, and quotes and brackets before it", line, column
	}
	if has("node content") {
		return "a value is missing here", line, column
	}
	return strings.TrimPrefix(e.Message, "yaml: "), line, column
}

// commented returns the column of a "#" after a blank that seems to be part of a selector; 0 if the
// line has none.
func commented(lines []string, line int) int {
	if line < 1 || line > len(lines) {
		return 0
	}
	r := []rune(lines[line-1])
	for i := 1; i+1 < len(r); i++ {
		if r[i] == '#' && r[i-1] == ' ' && r[i+1] != ' ' && r[i+1] != '#' {
			return i + 1
		}
	}
	return 0
}

// at returns the character at a position, a blank if there is none.
func at(lines []string, line, column int) rune {
	if line < 1 || line > len(lines) {
		return ' '
	}
	if r := []rune(lines[line-1]); column >= 1 && column <= len(r) {
		return r[column-1]
	}
	return ' '
}
