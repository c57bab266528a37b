package extract

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/itchyny/gojq"

	"seine/internal/base/lazyregexp"
	"seine/internal/page/document"
)

// jqRun runs the jq programs of rules.
type jqRun struct{ *run }

// query is a compiled jq program. It is safe for concurrent use.
type query struct {
	text string
	path []step // of a plain path such as ".a.b[]", which needs no interpreter; nil for other programs
	// first is whether the first result is usually enough.
	first bool
}

// step of a path is the name of a member, or "" for all members.
type step string

// maxProgram is the longest program, in bytes. Its parts may nest, and the compiler recurses into them.
const maxProgram = 64 << 10

// forbidden are functions of jq whose result depends on more than their input. The same page must
// always give the same record.
var forbidden = map[string]bool{
	"now": true, "localtime": true, "strflocaltime": true,
	"env": true, "$ENV": true, "input": true, "inputs": true, "input_filename": true, "input_line_number": true,
	"debug": true, "stderr": true, "halt": true, "halt_error": true, "get_search_list": true, "modulemeta": true,
}

func compileJQ(text string) (*query, error) {
	if len(text) > maxProgram {
		return nil, fmt.Errorf("jq %q: the program has %d bytes, at most %d are allowed", shorten(text), len(text), maxProgram)
	}
	parsed, err := gojq.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("jq %q: %w", text, err)
	}
	if len(parsed.Imports) > 0 || parsed.Meta != nil {
		return nil, fmt.Errorf("jq %q: modules are not supported", text)
	}
	for _, name := range functionsOf(parsed) {
		if forbidden[name] {
			return nil, fmt.Errorf("jq %q: %s is not allowed in rules: the same page must always give the same record", text, name)
		}
	}
	if _, err := gojq.Compile(parsed); err != nil {
		return nil, fmt.Errorf("jq %q: %w", text, err)
	}
	return &query{text: text, path: plainPath(parsed)}, nil
}

// called matches a call of a function in a parsed program, as JSON. It cannot match inside a string
// of the program, whose quotes are escaped.
var called = lazyregexp.New(`"Func":\{"Name":"([^"]+)"`)

// functionsOf returns the functions and variables that a program names.
func functionsOf(parsed *gojq.Query) (names []string) {
	text, err := json.Marshal(parsed)
	if err != nil {
		panic(err) // a tree of structs, numbers and texts
	}
	for _, m := range called().FindAllSubmatch(text, -1) {
		names = append(names, string(m[1]))
	}
	return names
}

// plainPath returns the steps of a program that is only a path, and nil for other programs.
func plainPath(q *gojq.Query) []step {
	if q.Term == nil || len(q.FuncDefs) > 0 {
		return nil
	}
	suffixes := q.Term.SuffixList
	switch q.Term.Type {
	case gojq.TermTypeIdentity:
	case gojq.TermTypeIndex:
		suffixes = append([]*gojq.Suffix{{Index: q.Term.Index}}, suffixes...)
	default:
		return nil
	}
	path := make([]step, 0, len(suffixes))
	for _, s := range suffixes {
		switch {
		case s.Iter:
			path = append(path, "")
		case s.Index != nil && s.Index.Name != "":
			path = append(path, step(s.Index.Name))
		default:
			return nil
		}
	}
	return path
}

// walk follows a plain path. ok is false if the interpreter must run: for another program, or a
// value of unexpected structure.
func (q *query) walk(v any) (found []any, ok bool) {
	if q.path == nil {
		return nil, false
	}
	found = []any{v}
	for _, s := range q.path {
		if found, ok = s.take(found); !ok {
			return nil, false
		}
	}
	return found, true
}

// take applies a step to each value. It may modify and return found.
func (s step) take(found []any) (next []any, ok bool) {
	if s != "" {
		for i, v := range found {
			switch object := v.(type) {
			case map[string]any:
				found[i] = object[string(s)]
			case nil:
			default:
				return nil, false
			}
		}
		return found, true
	}
	for _, v := range found {
		switch v := v.(type) {
		case []any:
			next = append(next, v...)
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				next = append(next, v[name])
			}
		default:
			return nil, false
		}
	}
	return next, true
}

// nothing reports whether v is null, or a number that JSON cannot represent.
func nothing(v any) bool {
	f, ok := v.(float64)
	return v == nil || ok && (math.IsNaN(f) || math.IsInf(f, 0))
}

// maxValue bounds the input and the results of jq, in values plus bytes of text: twice the longest
// JSON. A value may contain another many times, and CSV repeats its column names in each row.
const maxValue = 2 * document.MaxData

var errLarge = fmt.Errorf("a value is larger than %d MiB", maxValue>>20)

func tooLarge(v any) bool {
	left := maxValue
	takeSize(v, &left)
	return left < 0
}

// selectJQ yields the results of the program for a value, except null. An error of the program ends
// it with a note: the value has an unexpected structure. ahead has the results of askAhead.
func (j jqRun) selectJQ(v any, q *query, ahead map[*query]*batch, yield func(item) bool) error {
	if found, ok := q.walk(v); ok {
		for _, v := range found {
			if v != nil && !yield(valueItem(v)) {
				break
			}
		}
		return j.spend(1 + len(found))
	}
	first := ahead[q]
	if first == nil {
		first = &batch{more: true}
	}
	more, err := j.deliver(first, yield)
	if more {
		err = j.interpret(q, v, len(first.values), yield)
	}
	var failed programError
	switch {
	case j.ctx.Err() != nil:
		return j.ctx.Err()
	case errors.As(err, &failed):
		j.note(j.index, j.field, "jq %q: %v", q.text, failed)
	case err != nil:
		return fmt.Errorf("jq %q: %w", q.text, err)
	}
	return nil
}

// deliver yields the results of a batch. more reports whether the caller wants further results and
// there may be some.
func (j jqRun) deliver(b *batch, yield func(item) bool) (more bool, err error) {
	if err := j.spend(1 + b.size/bytesAWork); err != nil {
		return false, err
	}
	for _, v := range b.values {
		if !yield(valueItem(v)) {
			return false, nil
		}
	}
	return b.more, b.err
}

// interpret makes a worker evaluate a program, and yields its results except the first skip ones.
// To get further results, the program runs again from the beginning.
func (j jqRun) interpret(q *query, v any, skip int, yield func(item) bool) error {
	if tooLarge(v) {
		return fmt.Errorf("%w: %w", errBound, errLarge)
	}
	text := appendValue(nil, v)
	if err := j.spend(1 + len(text)/bytesAWork); err != nil {
		return err
	}
	for {
		w, err := j.interpreter()
		if err != nil {
			return err
		}
		p := jqProgram{Text: q.text, Skip: skip, Most: maxAsked}
		if q.first && skip == 0 {
			p.Most = 1
		}
		b := w.exchange(&jqRequest{Most: maxResult, Tasks: []jqTask{{Value: text, Programs: []jqProgram{p}}}})[0]
		skip += len(b.values)
		if more, err := j.deliver(b, yield); !more {
			return err
		}
	}
}

// interpreter returns the worker of the run, which keeps it until the end of a rule.
func (j jqRun) interpreter() (w *jqProcess, err error) {
	if j.worker != nil && j.worker.ended != nil {
		j.release()
	}
	if j.worker == nil {
		j.worker, err = j.pool.get(j.ctx)
	}
	return j.worker, err
}

// release returns the worker to the pool.
func (j jqRun) release() {
	if j.worker != nil {
		j.pool.put(j.worker)
		j.worker = nil
	}
}
