package extract

import (
	"context"
	"fmt"
	"math/big"
	"reflect"

	"github.com/itchyny/gojq"
)

// Bounds of what jq makes of a page.
const (
	// maxInstructions is how many instructions may make one value. A value of an
	// instruction takes some ten bytes, and all are kept where they are collected.
	maxInstructions = 20_000_000
	// maxTextJQ, maxTextRegexJQ and maxListJQ are the largest texts, in bytes, and
	// lists and objects that functions get which nothing ends before they are
	// through.
	maxTextJQ      = 8 << 20
	maxTextRegexJQ = 64 << 10
	maxListJQ      = 1_000_000
	// maxPairsJQ is how many members of two lists may be compared with each other.
	maxPairsJQ = 10_000_000
)

var errInstructions = fmt.Errorf("%w: more than %d instructions for one value", errBound, maxInstructions)

// meter is the context of an interpreter. That asks before each instruction
// whether it is done, so the meter counts them.
type meter struct {
	context.Context
	run  *run
	left int
	err  error
}

var isDone = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Done counts an instruction.
func (m *meter) Done() <-chan struct{} {
	if m.left--; m.left&(askEvery-1) == 0 && m.err == nil {
		m.err = m.run.spend(askEvery)
		if m.err == nil && m.left <= 0 {
			m.err = errInstructions
		}
	}
	if m.err != nil {
		return isDone
	}
	return nil
}

// Err says why it is done.
func (m *meter) Err() error { return m.err }

// again begins a new value.
func (m *meter) again() { m.left = maxInstructions }

// guards are functions that take one large value in one piece, and what looks at it
// before.
var guards = guardsOf(map[string][]string{
	"_textGuard": {
		"explode", "split", "ascii_downcase", "ascii_upcase", "tojson", "fromjson", "ltrimstr", "rtrimstr", "trimstr", "trim", "ltrim", "rtrim",
		"implode", "tonumber",
	},
	"_regexGuard": {"match", "test", "capture", "scan", "splits", "sub", "gsub"},
	"_listGuard": {
		"sort", "sort_by", "group_by", "unique", "unique_by", "min_by", "max_by", "min", "max", "flatten", "transpose", "contains", "inside",
		"index", "rindex", "indices", "join", "add", "reverse", "keys", "to_entries", "with_entries", "tostring",
	},
})

func guardsOf(names map[string][]string) map[string]string {
	of := make(map[string]string)
	for guard, functions := range names {
		for _, name := range functions {
			of[name] = guard
		}
	}
	return of
}

// operators are those whose operands are looked at before.
var operators = map[gojq.Operator]string{
	gojq.OpAdd: "_addGuard", gojq.OpSub: "_subtractGuard", gojq.OpMul: "_multiplyGuard",
	gojq.OpUpdateAdd: "_addGuard", gojq.OpUpdateSub: "_subtractGuard", gojq.OpUpdateMul: "_multiplyGuard",
}

// guardFunctions look at values: what is too large is an error.
func guardFunctions() []gojq.CompilerOption {
	return []gojq.CompilerOption{
		gojq.WithFunction("_textGuard", 0, 0, func(v any, _ []any) any { return guard(v, maxTextJQ) }),
		gojq.WithFunction("_regexGuard", 0, 0, func(v any, _ []any) any { return guard(v, maxTextRegexJQ) }),
		gojq.WithFunction("_listGuard", 0, 0, func(v any, _ []any) any { return guard(v, maxTextJQ) }),
		gojq.WithFunction("_addGuard", 2, 2, func(_ any, args []any) any {
			return operands(args, size(args[0])+size(args[1]), maxTextJQ)
		}),
		gojq.WithFunction("_subtractGuard", 2, 2, func(_ any, args []any) any {
			return operands(args, length(args[0])*length(args[1]), maxPairsJQ)
		}),
		gojq.WithFunction("_multiplyGuard", 2, 2, func(_ any, args []any) any { return operands(args, repeated(args), maxTextJQ) }),
	}
}

func tooLarge(what string, n, most int) error {
	return fmt.Errorf("%w: %s %d, at most %d are allowed", errBound, what, n, most)
}

// guard returns a value that is not too large, else an error.
func guard(v any, mostText int) any {
	switch v := v.(type) {
	case string:
		if len(v) > mostText {
			return tooLarge("the bytes of a text that a function is given are", len(v), mostText)
		}
	default:
		if n := length(v); n > maxListJQ {
			return tooLarge("the members of a list or object that a function is given are", n, maxListJQ)
		}
	}
	return v
}

// operands returns the two operands of an operator whose result is not too large.
func operands(args []any, n, most int) any {
	if n > most {
		return tooLarge("the size of what an operator makes would be", n, most)
	}
	return []any{args[0], args[1]}
}

// length is how many members a list or object has.
func length(v any) int {
	switch v := v.(type) {
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 0
}

// size is about how many bytes a value takes itself.
func size(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case *big.Int:
		return v.BitLen() / 8
	}
	const member = 8
	return member * length(v)
}

// repeated is how large a product is: that of a text and a number repeats it.
func repeated(args []any) int {
	for i, v := range args {
		if text, ok := v.(string); ok {
			times, _ := gojq.ToFloat64(args[1-i])
			return int(min(float64(len(text))*max(times, 0), 1<<40))
		}
	}
	// The digits of large numbers are multiplied with each other.
	const digit = 8
	return size(args[0])*size(args[1])/digit + size(args[0]) + size(args[1])
}

// bind puts guards before what they are for, throughout a parsed expression.
func bind(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		bind(v.Elem())
		switch part := v.Interface().(type) {
		case *gojq.Query:
			bindOperator(part)
		case *gojq.Term:
			bindFunction(part)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			bind(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			bind(v.Index(i))
		}
	default: // holds no expression
	}
}

// bindFunction makes f of a term "guard | f".
func bindFunction(t *gojq.Term) {
	if t.Type != gojq.TermTypeFunc || guards[t.Func.Name] == "" {
		return
	}
	f := call(t.Func.Name, t.Func.Args...)
	*t = gojq.Term{Type: gojq.TermTypeQuery, Query: pipe(call(guards[t.Func.Name]), f), SuffixList: t.SuffixList}
}

// bindOperator makes "guard(a; b) | .[0] + .[1]" of "a + b", and
// "b as $x | a |= (guard(.; $x) | .[0] + .[1])" of "a += b".
func bindOperator(q *gojq.Query) {
	guard, ok := operators[q.Op]
	if !ok || q.Term != nil {
		return
	}
	updates := map[gojq.Operator]gojq.Operator{
		gojq.OpUpdateAdd: gojq.OpAdd, gojq.OpUpdateSub: gojq.OpSub, gojq.OpUpdateMul: gojq.OpMul,
	}
	op, update := updates[q.Op]
	if !update {
		*q = gojq.Query{FuncDefs: q.FuncDefs, Op: gojq.OpPipe, Left: call(guard, q.Left, q.Right), Right: ofPair(q.Op)}
		return
	}
	const right = "$__right"
	it := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity}}
	made := &gojq.Query{Op: gojq.OpModify, Left: q.Left, Right: pipe(call(guard, it, call(right)), ofPair(op))}
	*q = gojq.Query{FuncDefs: q.FuncDefs, Op: gojq.OpPipe, Left: q.Right, Patterns: []*gojq.Pattern{{Name: right}}, Right: made}
}

func call(name string, args ...*gojq.Query) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name, Args: args}}}
}

func pipe(left, right *gojq.Query) *gojq.Query {
	return &gojq.Query{Op: gojq.OpPipe, Left: left, Right: right}
}

// ofPair applies an operator to the members of a pair.
func ofPair(op gojq.Operator) *gojq.Query {
	member := func(i string) *gojq.Query {
		start := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeNumber, Number: i}}
		return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIndex, Index: &gojq.Index{Start: start}}}
	}
	return &gojq.Query{Op: op, Left: member("0"), Right: member("1")}
}
