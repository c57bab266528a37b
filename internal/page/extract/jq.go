package extract

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"seine/internal/page/document"
)

// query is a compiled jq expression, safe for concurrent use.
type query struct {
	text string
	code *gojq.Code
	// path are the names of an expression like ".a.b", and of one like ".a.b[]", for
	// which the members of a list are wanted. Most expressions are so, and need no
	// interpreter.
	path     []string
	members  bool
	patterns patterns
	most     int // instructions for one value
}

var plainPath = regexp.MustCompile(`^(?:\.[A-Za-z_][A-Za-z0-9_]*)+(\[\])?$`)

// forbidden are functions of jq whose result depends on more than their input:
// the same page must always give the same record.
var forbidden = map[string]bool{
	"now": true, "localtime": true, "strflocaltime": true,
	"env": true, "$ENV": true, "input": true, "inputs": true, "input_filename": true, "input_line_number": true,
	"debug": true, "stderr": true, "halt": true, "halt_error": true, "get_search_list": true, "modulemeta": true,
}

func compileJQ(text string) (*query, error) {
	parsed, err := gojq.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("jq %q: %w", text, err)
	}
	if len(parsed.Imports) > 0 || parsed.Meta != nil {
		return nil, fmt.Errorf("jq %q: there are no modules here", text)
	}
	if name := refused(parsed); name != "" {
		return nil, fmt.Errorf("jq %q: %s is not for rules: the same page must always give the same record", text, name)
	}
	most := maxInstructions
	if recursive(parsed) {
		most = maxRecursive
	}
	instrument(reflect.ValueOf(parsed))
	parsed.FuncDefs = append(preludeOf(parsed), parsed.FuncDefs...)
	code, err := gojq.Compile(parsed, meteredFunctions()...)
	if err != nil {
		return nil, fmt.Errorf("jq %q: %w", text, err)
	}
	q := &query{text: text, code: code, most: most}
	if plainPath.MatchString(text) {
		names, members := strings.CutSuffix(text[1:], "[]")
		q.path, q.members = strings.Split(names, "."), members
	}
	return q, nil
}

// walk follows a plain path, false if that is for the interpreter: where the
// expression is more, or the value has another shape.
func (q *query) walk(v any) (found []any, ok bool) {
	if q.path == nil {
		return nil, false
	}
	for _, name := range q.path {
		switch object := v.(type) {
		case map[string]any:
			v = object[name]
		case nil:
		default:
			return nil, false
		}
	}
	if !q.members {
		return []any{v}, true
	}
	found, ok = v.([]any)
	return found, ok
}

// refused returns the first name of a parsed expression that rules may not have.
func refused(parsed *gojq.Query) string {
	found := ""
	visit(reflect.ValueOf(parsed), func(part any) {
		names := []string{}
		switch part := part.(type) {
		case *gojq.Func:
			names = append(names, part.Name)
			if forbidden[part.Name] {
				found = part.Name
			}
		case *gojq.FuncDef:
			names = append(part.Args, part.Name)
		case *gojq.Pattern:
			names = append(names, part.Name)
		case *gojq.PatternObject:
			names = append(names, part.Key)
		case *gojq.ObjectKeyVal:
			names = append(names, part.Key)
		}
		if i := slices.IndexFunc(names, reserved); i >= 0 {
			found = names[i]
		}
	})
	return found
}

// recursive reports whether a function that is defined in an expression calls itself.
func recursive(parsed *gojq.Query) bool {
	found := false
	visit(reflect.ValueOf(parsed), func(part any) {
		if def, ok := part.(*gojq.FuncDef); ok {
			names := make(map[signature]bool)
			called(reflect.ValueOf(def.Body), names)
			found = found || names[signature{def.Name, len(def.Args)}]
		}
	})
	return found
}

// nothing reports null, and what JSON has no number for.
func nothing(v any) bool {
	f, ok := v.(float64)
	return v == nil || ok && (math.IsNaN(f) || math.IsInf(f, 0))
}

// run begins an evaluation.
func (q *query) run(r *run, v any) *meter {
	m := &meter{Context: r.ctx, run: r, patterns: &q.patterns, most: q.most, left: q.most}
	m.results = q.code.RunWithContext(m, v, m)
	return m
}

// selectJQ yields what the expression makes of a value, but for null. An error of
// the expression ends it with no more than a note: it means that the value has
// another shape.
func (r *run) selectJQ(v any, q *query, yield func(item) bool) error {
	if found, ok := q.walk(v); ok {
		for _, v := range found {
			if v != nil && !yield(valueItem(v)) {
				break
			}
		}
		return r.spend(1 + len(found))
	}
	return r.results(q, q.run(r, v), yield)
}

// results yields what an evaluation gives.
func (r *run) results(q *query, m *meter, yield func(item) bool) error {
	for {
		m.again()
		v, ok := m.results.Next()
		if !ok {
			return nil
		}
		if err, ok := v.(error); ok {
			if m.err != nil {
				return fmt.Errorf("jq %q: %w", q.text, m.err)
			}
			if errors.Is(err, errBound) {
				return fmt.Errorf("jq %q: %w", q.text, err)
			}
			r.note(r.index, r.field, "jq %q: %v", q.text, err)
			return nil
		}
		if err := r.weigh(v); err != nil {
			return fmt.Errorf("jq %q: %w", q.text, err)
		}
		if !nothing(v) && !yield(valueItem(v)) {
			return nil
		}
	}
}

// maxValue is how large a value may be, in values and bytes of texts: twice what
// JSON of the longest kind has. One that is made may have the same part often.
const maxValue = 2 * document.MaxData

// weigh refuses a value that is too deep or too large.
func (r *run) weigh(v any) error {
	left := maxValue
	return r.weighPart(v, maxValueDepth, &left)
}

func (r *run) weighPart(v any, depth int, left *int) error {
	weight := 1 + digits(v)
	if text, ok := v.(string); ok {
		weight += len(text)
	}
	*left -= weight
	switch {
	case depth < 0:
		return fmt.Errorf("%w: a value is more than %d deep", errBound, maxValueDepth)
	case *left < 0:
		return fmt.Errorf("%w: a value is larger than %d bytes", errBound, maxValue)
	}
	err := r.spend(1)
	switch v := v.(type) {
	case []any:
		for i := 0; i < len(v) && err == nil; i++ {
			err = r.weighPart(v[i], depth-1, left)
		}
	case map[string]any:
		for name, e := range v {
			if *left -= len(name); err == nil {
				err = r.weighPart(e, depth-1, left)
			}
		}
	}
	return err
}
