package extract

import (
	"reflect"

	"github.com/itchyny/gojq"
)

const meteredPrefix = "_m_"

// guarded are functions of the interpreter that take a value in one piece, and what
// looks at it before. What they make is counted.
var guarded = func() map[string]string {
	of := make(map[string]string)
	for guard, names := range map[string][]string{
		"text":    {"ascii_downcase", "ascii_upcase", "ltrim", "rtrim", "trim", "implode", "reverse", "keys"},
		"explode": {"explode"},
		"touch":   {"length"},
		"weigh":   {"tojson", "tostring", "format", "error"},
		"number":  {"tonumber"},
		"date":    {"strptime"},
		"sum":     {"add"},
	} {
		for _, name := range names {
			of[name] = guard
		}
	}
	return of
}()

// guardedArguments are functions of which the first argument is looked at before.
var guardedArguments = map[string]string{
	"setpath": "path", "getpath": "readPath", "delpaths": "paths", "error": "weigh", "strptime": "date", "strftime": "date",
}

// ofInput are guards that look at the input of a function as well.
var ofInput = map[string]bool{"path": true, "paths": true}

// operators are what is put for an operator. __l and __r are its operands.
var operators = map[gojq.Operator]string{
	gojq.OpAdd: "_m_add($__meter; __l; __r) | .[0] + .[1] | _m_keep($__meter)",
	gojq.OpSub: "_m_subtract($__meter; __l; __r) | .[0] - .[1] | _m_keep($__meter)",
	gojq.OpMul: "_m_multiply($__meter; __l; __r) | .[0] * .[1] | _m_keepAll($__meter)",
	gojq.OpDiv: "_m_divide($__meter; __l; __r) | .[0] / .[1] | _m_keep($__meter)",
	gojq.OpEq:  "_m_eq($__meter; __l; __r)",
	gojq.OpNe:  "_m_ne($__meter; __l; __r)",
	gojq.OpLt:  "_m_lt($__meter; __l; __r)",
	gojq.OpLe:  "_m_le($__meter; __l; __r)",
	gojq.OpGt:  "_m_gt($__meter; __l; __r)",
	gojq.OpGe:  "_m_ge($__meter; __l; __r)",

	gojq.OpUpdateAdd: "__r as $__r | " + assignment("__l |= (_m_add($__meter; .; $__r) | .[0] + .[1] | _m_keep($__meter))"),
	gojq.OpUpdateSub: "__r as $__r | " + assignment("__l |= (_m_subtract($__meter; .; $__r) | .[0] - .[1] | _m_keep($__meter))"),
	gojq.OpUpdateMul: "__r as $__r | " + assignment("__l |= (_m_multiply($__meter; .; $__r) | .[0] * .[1] | _m_keepAll($__meter))"),
	gojq.OpUpdateDiv: "__r as $__r | " + assignment("__l |= (_m_divide($__meter; .; $__r) | .[0] / .[1] | _m_keep($__meter))"),
	gojq.OpUpdateMod: assignment("__l %= __r"),
	gojq.OpUpdateAlt: assignment("__l //= __r"),
	gojq.OpAssign:    assignment("__l = __r"),
	gojq.OpModify:    assignment("__l |= __r"),
}

// assignment is an assignment to __l whose paths are looked at before, and what it
// makes behind.
func assignment(text string) string {
	return ". as $__v | reduce path(__l) as $__p ([]; _m_step($__meter; $__p; $__v)) as $__paths | " + text + " | _m_settle($__meter; $__paths)"
}

// instrument puts what counts and guards at all places of a parsed expression where a
// value of a page can make the interpreter's work grow beyond its instructions.
func instrument(v reflect.Value) {
	visit(v, func(part any) {
		switch part := part.(type) {
		case *gojq.Query:
			instrumentOperator(part)
		case *gojq.Term:
			instrumentTerm(part)
		case *gojq.String:
			instrumentString(part)
		case *gojq.Index:
			instrumentIndex(part)
		case *gojq.ObjectKeyVal:
			if part.Val != nil && part.KeyString != nil && part.KeyString.Queries != nil {
				text := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeString, Str: part.KeyString}}
				part.KeyString, part.KeyQuery = nil, pipe(text, metering("keep"))
			}
		}
	})
}

func instrumentOperator(q *gojq.Query) {
	text, ok := operators[q.Op]
	if !ok || q.Term != nil {
		return
	}
	made := filled(text, map[string]*gojq.Query{"__l": q.Left, "__r": q.Right})
	made.FuncDefs = q.FuncDefs
	*q = *made
}

// filled parses an expression, and puts others for the functions of these names.
func filled(text string, parts map[string]*gojq.Query) *gojq.Query {
	made, err := gojq.Parse(text)
	if err != nil {
		panic(err) // these are texts of this package
	}
	visit(reflect.ValueOf(made), func(part any) {
		if q, ok := part.(*gojq.Query); ok && q.Term != nil && q.Term.Type == gojq.TermTypeFunc && parts[q.Term.Func.Name] != nil {
			*q = gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: parts[q.Term.Func.Name]}}
		}
	})
	return made
}

func metering(name string) *gojq.Query {
	return call(meteredPrefix+name, call(meterVariable))
}

// instrumentTerm makes "guard | f | keep" of a function, counts lists and objects that
// are written, and goes through no value before it was looked at.
func instrumentTerm(t *gojq.Term) {
	instrumentSuffixes(t)
	start := *t
	start.SuffixList = nil
	q := &gojq.Query{Term: &start}
	switch t.Type {
	case gojq.TermTypeFunc:
		if q = instrumentedFunction(start.Func); q == nil {
			return
		}
	case gojq.TermTypeFormat:
		q = pipe(q, metering("keep"))
		if t.Str == nil {
			q = pipe(metering("weigh"), q)
		}
	case gojq.TermTypeString:
		if t.Str.Queries == nil {
			return
		}
		q = pipe(q, metering("keep"))
	case gojq.TermTypeIndex:
		if !t.Index.IsSlice && t.Index.Start == nil {
			return
		}
		q = pipe(metering("touch"), q)
	case gojq.TermTypeObject, gojq.TermTypeArray:
		q = pipe(q, metering("keep"))
	case gojq.TermTypeReduce:
		q = instrumentedReduce(start.Reduce)
	default:
		return
	}
	*t = gojq.Term{Type: gojq.TermTypeQuery, Query: q, SuffixList: t.SuffixList}
}

// instrumentedReduce makes "reduce … (…; enter | update | leave)".
func instrumentedReduce(r *gojq.Reduce) *gojq.Query {
	update := filled("_m_enter($__meter; $__loop) | __u | _m_leave($__meter; $__loop)", map[string]*gojq.Query{"__u": r.Update})
	made := &gojq.Reduce{Query: r.Query, Patterns: r.Patterns, Start: r.Start, Update: update}
	whole := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeReduce, Reduce: made}}
	return filled("_m_loop($__meter) as $__loop | __r", map[string]*gojq.Query{"__r": whole})
}

// instrumentedFunction is nil for a function that needs nothing.
func instrumentedFunction(f *gojq.Func) *gojq.Query {
	argument, input := guardedArguments[f.Name], guarded[f.Name]
	switch {
	case len(f.Args) == 0 || f.Name == "join":
		argument = ""
	case f.Name != "format" && f.Name != "strptime":
		input = ""
	}
	if argument == "" && input == "" {
		return nil
	}
	if argument != "" {
		f = &gojq.Func{Name: f.Name, Args: append([]*gojq.Query{guardedArgument(f.Args[0], argument)}, f.Args[1:]...)}
	}
	made := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: f}}
	if f.Name == "getpath" || f.Name == "error" && argument != "" {
		return made
	}
	made = pipe(made, metering("keep"))
	if input != "" {
		made = pipe(metering(input), made)
	}
	return made
}

// guardedArgument makes "argument | guard", or ". as $__v | argument | guard($__v)".
func guardedArgument(q *gojq.Query, guard string) *gojq.Query {
	if !ofInput[guard] {
		return pipe(q, metering(guard))
	}
	return filled(". as $__v | __q | "+meteredPrefix+guard+"($__meter; $__v)", map[string]*gojq.Query{"__q": q})
}

// instrumentSuffixes makes "(.a | iterate)[]" of ".a[]", and the same of slices and
// computed indexes, for which the characters of a text are counted.
func instrumentSuffixes(t *gojq.Term) {
	suffixes := t.SuffixList
	now := *t
	now.SuffixList = nil
	for _, s := range suffixes {
		guard := ""
		switch {
		case s.Iter:
			guard = "iterate"
		case s.Index != nil && (s.Index.IsSlice || s.Index.Start != nil):
			guard = "touch"
		}
		if guard != "" {
			before := now
			now = gojq.Term{Type: gojq.TermTypeQuery, Query: pipe(&gojq.Query{Term: &before}, metering(guard))}
		}
		now.SuffixList = append(now.SuffixList, s)
	}
	*t = now
}

// instrumentString guards what is put into a text.
func instrumentString(s *gojq.String) {
	for i, q := range s.Queries {
		if q.Term == nil || q.Term.Str == nil {
			s.Queries[i] = &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: pipe(q, metering("weigh"))}}
		}
	}
}

func instrumentIndex(x *gojq.Index) {
	for _, q := range []**gojq.Query{&x.Start, &x.End} {
		if *q != nil && ((*q).Term == nil || (*q).Term.Type != gojq.TermTypeNumber) {
			*q = pipe(*q, metering("place"))
		}
	}
}

func call(name string, args ...*gojq.Query) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name, Args: args}}}
}

func pipe(left, right *gojq.Query) *gojq.Query {
	return &gojq.Query{Op: gojq.OpPipe, Left: left, Right: right}
}
