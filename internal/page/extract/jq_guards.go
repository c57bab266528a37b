package extract

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"seine/internal/page/document"
)

// metered are the functions that instrument and preludeText name, as "_m_NAME". Each
// gets the meter as its first argument.
var metered = map[string]struct {
	args int
	do   func(m *meter, v any, args []any) any
}{
	// What is around the update of a "reduce".
	"loop":  {0, func(m *meter, _ any, _ []any) any { return m.result(new(loop), nil) }},
	"enter": {1, func(m *meter, v any, args []any) any { return m.enter(args[0].(*loop), v) }},
	"leave": {1, func(m *meter, v any, args []any) any { return m.leave(args[0].(*loop), v) }},
	// What looks at a value before the interpreter's function gets it.
	"text":     {0, func(m *meter, v any, _ []any) any { return m.guard(v, maxTextJQ) }},
	"explode":  {0, func(m *meter, v any, _ []any) any { return m.guard(v, maxTextExplodeJQ) }},
	"number":   {0, func(m *meter, v any, _ []any) any { return m.guard(v, document.MaxDigits) }},
	"date":     {0, func(m *meter, v any, _ []any) any { return m.guard(v, maxTextDateJQ) }},
	"weigh":    {0, func(m *meter, v any, _ []any) any { return m.weigh(v) }},
	"sum":      {0, func(m *meter, v any, _ []any) any { return m.sum(v) }},
	"touch":    {0, func(m *meter, v any, _ []any) any { return m.touch(v) }},
	"iterate":  {0, func(m *meter, v any, _ []any) any { return m.iterate(v) }},
	"place":    {0, func(m *meter, v any, _ []any) any { return m.place(v) }},
	"readPath": {0, func(m *meter, v any, _ []any) any { return m.result(v, path(v)) }},
	"path":     {1, func(m *meter, v any, args []any) any { return m.result(v, pathIn(args[0], v)) }},
	"paths":    {1, func(m *meter, v any, args []any) any { return m.paths(args[0], v) }},
	"step":     {2, func(m *meter, v any, args []any) any { return m.step(v, args[0], args[1]) }},
	// What counts what was made.
	"keep":    {0, func(m *meter, v any, _ []any) any { return m.keep(v) }},
	"keepAll": {0, func(m *meter, v any, _ []any) any { m.keepAll(v); return m.result(v, nil) }},
	"settle":  {1, func(m *meter, v any, args []any) any { return m.settle(v, args[0]) }},
	// Operators, and what looks at their operands.
	"add":      {2, func(m *meter, _ any, args []any) any { return m.operands(args, together(args[0], args[1])) }},
	"subtract": {2, func(m *meter, _ any, args []any) any { return m.subtract(args[0], args[1]) }},
	"multiply": {2, func(m *meter, _ any, args []any) any { return m.operands(args, m.product(args[0], args[1])) }},
	"divide":   {2, func(m *meter, _ any, args []any) any { return m.operands(args, quotient(args[0], args[1])) }},
	"eq":       {2, func(m *meter, _ any, args []any) any { return m.result(m.order(args[0], args[1]) == 0, nil) }},
	"ne":       {2, func(m *meter, _ any, args []any) any { return m.result(m.order(args[0], args[1]) != 0, nil) }},
	"lt":       {2, func(m *meter, _ any, args []any) any { return m.result(m.order(args[0], args[1]) < 0, nil) }},
	"le":       {2, func(m *meter, _ any, args []any) any { return m.result(m.order(args[0], args[1]) <= 0, nil) }},
	"gt":       {2, func(m *meter, _ any, args []any) any { return m.result(m.order(args[0], args[1]) > 0, nil) }},
	"ge":       {2, func(m *meter, _ any, args []any) any { return m.result(m.order(args[0], args[1]) >= 0, nil) }},
	// Functions in place of the interpreter's.
	"contains": {1, func(m *meter, v any, args []any) any {
		is, err := m.contains(v, args[0])
		return m.result(is, err)
	}},
	"indices":   {1, func(m *meter, v any, args []any) any { return m.indices(v, args[0]) }},
	"index":     {1, func(m *meter, v any, args []any) any { return m.index(v, args[0]) }},
	"rindex":    {1, func(m *meter, v any, args []any) any { return m.rindex(v, args[0]) }},
	"split":     {1, func(m *meter, v any, args []any) any { return m.split(v, args[0]) }},
	"join":      {1, func(m *meter, v any, args []any) any { return m.join(v, args[0]) }},
	"flatten":   {1, func(m *meter, v any, args []any) any { return m.flatten(v, args[0]) }},
	"transpose": {0, func(m *meter, v any, _ []any) any { return m.transpose(v) }},
	"fromjson":  {0, func(m *meter, v any, _ []any) any { return m.fromJSON(v) }},
	"bsearch":   {1, func(m *meter, v any, args []any) any { return m.search(v, args[0]) }},
	"sort":      {1, func(m *meter, v any, args []any) any { return m.sort(v, args[0]) }},
	"group":     {1, func(m *meter, v any, args []any) any { return m.group(v, args[0]) }},
	"unique":    {1, func(m *meter, v any, args []any) any { return m.unique(v, args[0]) }},
	"min":       {1, func(m *meter, v any, args []any) any { return m.extreme("min", v, args[0], 1) }},
	"max":       {1, func(m *meter, v any, args []any) any { return m.extreme("max", v, args[0], -1) }},
	"match":     {2, func(m *meter, v any, args []any) any { return m.match(v, args[0], args[1]) }},
	"test":      {2, func(m *meter, v any, args []any) any { return m.test(v, args[0], args[1]) }},
}

const meterVariable = "$__meter"

// meteredFunctions tell a compiler of the metered functions, and the variable that
// they get the meter by.
func meteredFunctions() []gojq.CompilerOption {
	options := []gojq.CompilerOption{gojq.WithVariables([]string{meterVariable})}
	for name, f := range metered {
		options = append(options, gojq.WithFunction(meteredPrefix+name, f.args+1, f.args+1, func(v any, args []any) any {
			m := args[0].(*meter)
			if m.err != nil {
				return m.err
			}
			return f.do(m, v, args[1:])
		}))
	}
	return options
}

func tooLarge(what string, n, most int) error {
	return fmt.Errorf("%w: %s %d, at most %d are allowed", errBound, what, n, most)
}

// guard returns a value that is not too large, else an error.
func (m *meter) guard(v any, mostText int) any {
	if text, ok := v.(string); ok && len(text) > mostText {
		return tooLarge("the bytes of a text that a function is given are", len(text), mostText)
	}
	return m.result(v, fewMembers(v))
}

// fewMembers refuses lists and objects that are too large.
func fewMembers(v any) error {
	const what = "the members of a list or object that a function is given are"
	switch v := v.(type) {
	case []any:
		if len(v) > maxListJQ {
			return tooLarge(what, len(v), maxListJQ)
		}
	case map[string]any:
		if len(v) > maxObjectJQ {
			return tooLarge(what, len(v), maxObjectJQ)
		}
	}
	return nil
}

// weigh returns a value that is not too large with all within it.
func (m *meter) weigh(v any) any {
	left := maxTextWeighedJQ
	err := fewMembers(v)
	if err == nil {
		err = m.run.weighPart(v, maxValueDepth, &left)
	}
	if left < 0 {
		err = tooLarge("the bytes and values that a function is given are at least", maxTextWeighedJQ-left, maxTextWeighedJQ)
	}
	return m.result(v, err)
}

// sum guards "add": what it makes is as large as the members together.
func (m *meter) sum(v any) any {
	if err := fewMembers(v); err != nil {
		return err
	}
	list, err := m.members("add", v)
	if err != nil {
		return v // which is the error that add tells
	}
	texts, lists, objects := 0, 0, 0
	for _, e := range list {
		switch e := e.(type) {
		case string:
			texts += len(e)
		case []any:
			lists += len(e)
		case map[string]any:
			objects += len(e)
		default:
			texts += bytesASum + digits(e)
		}
	}
	return m.result(v, bounded(texts, lists, objects))
}

// bytesASum is how many bytes of a text are copied while a number is added.
const bytesASum = 32

// digits is about how many a number has, where that may be many.
func digits(v any) int {
	switch v := v.(type) {
	case json.Number:
		return len(v)
	case *big.Int:
		return v.BitLen() / 3
	}
	return 0
}

// bounded refuses what is made of so many bytes or members.
func bounded(texts, lists, objects int) error {
	const what = "the size of what an operator makes would be"
	switch {
	case texts > maxTextJQ:
		return tooLarge(what, texts, maxTextJQ)
	case lists > maxListJQ:
		return tooLarge(what, lists, maxListJQ)
	case objects > maxObjectJQ:
		return tooLarge(what, objects, maxObjectJQ)
	}
	return nil
}

// iterate counts what the interpreter takes to go through the members of a value.
func (m *meter) iterate(v any) any {
	if list, ok := v.([]any); ok {
		m.work(len(list) / bytesAWork)
		if m.most == maxRecursive { // whose calls may all be within each other
			m.make(sizeMember * len(list))
		}
	}
	return m.result(v, fewMembers(v))
}

// touch counts what the interpreter takes to count the characters of a text.
func (m *meter) touch(v any) any {
	switch v := v.(type) {
	case string:
		m.work(len(v) / bytesAWork)
		m.longest = max(m.longest, len(v))
	case []any:
		m.largest = max(m.largest, len(v))
	}
	return m.result(v, nil)
}

// place looks at an index that was computed. One of a text counts its characters
// again, for each that an expression gives.
func (m *meter) place(v any) any {
	m.work(m.longest / bytesAWork)
	if _, ok := v.([]any); ok && m.largest > maxListJQ {
		return tooLarge("the members of a list that another is looked for in are", m.largest, maxListJQ)
	}
	return m.result(v, place(v))
}

// operands returns the two operands of an operator, but for an error.
func (m *meter) operands(args []any, err error) any {
	return m.result([]any{args[0], args[1]}, err)
}

// together refuses operands of "+".
func together(l, r any) error {
	switch l := l.(type) {
	case string:
		r, _ := r.(string)
		return bounded(len(l)+len(r), 0, 0)
	case []any:
		r, _ := r.([]any)
		return bounded(0, len(l)+len(r), 0)
	case map[string]any:
		r, _ := r.(map[string]any)
		return bounded(0, 0, len(l)+len(r))
	}
	return numbers(l, r)
}

func numbers(values ...any) error {
	size := 0
	for _, v := range values {
		if n, ok := v.(*big.Int); ok {
			size += n.BitLen() / 8
		}
	}
	if size > maxNumberJQ {
		return tooLarge("the size of what an operator makes would be", size, maxNumberJQ)
	}
	return nil
}

// subtract returns a list and an empty one to subtract from it, or the operands.
func (m *meter) subtract(l, r any) any {
	left, ok := l.([]any)
	right, is := r.([]any)
	if !ok || !is {
		return m.result([]any{l, r}, numbers(l, r))
	}
	if n := len(left) * len(right); n > maxPairsJQ {
		return tooLarge("the size of what an operator makes would be", n, maxPairsJQ)
	}
	rest := []any{}
	for _, v := range left {
		if !slices.ContainsFunc(right, func(r any) bool { return m.order(v, r) == 0 }) {
			rest = append(rest, v)
		}
	}
	return m.result([]any{rest, []any{}}, nil)
}

// product refuses operands of "*".
func (m *meter) product(l, r any) error {
	for _, pair := range [][2]any{{l, r}, {r, l}} {
		if text, ok := pair[0].(string); ok {
			times, _ := gojq.ToFloat64(pair[1])
			return bounded(int(min(float64(len(text))*max(times, 0), 1<<40)), 0, 0)
		}
	}
	if _, ok := l.(map[string]any); ok {
		for _, v := range []any{l, r} {
			if err, ok := m.weigh(v).(error); ok {
				return err
			}
		}
	}
	return numbers(l, r)
}

// quotient refuses operands of "/", which splits texts.
func quotient(l, r any) error {
	if text, ok := l.(string); ok {
		by, _ := r.(string)
		return splits(text, by)
	}
	return numbers(l, r)
}

// place refuses an index that is a long list, which the interpreter looks for at
// each place of another: that is what "indices" is for.
func place(v any) error {
	list, ok := v.([]any)
	if !ok {
		return nil
	}
	const most = 8
	if len(list) > most {
		return tooLarge("the members of a list that is an index are", len(list), most)
	}
	for _, e := range list {
		switch e.(type) {
		case []any, map[string]any:
			return fmt.Errorf("%w: an index is a list of lists or objects", errBound)
		}
	}
	return nil
}

// path refuses paths to members far behind a list.
func path(v any) error {
	list, _ := v.([]any)
	if len(list) > maxValueDepth {
		return tooLarge("the names and indexes of a path are", len(list), maxValueDepth)
	}
	for _, p := range list {
		if err := place(p); err != nil {
			return err
		}
		if n, ok := gojq.ToFloat64(p); ok && n > maxIndexJQ {
			return tooLarge("the index of a member that is set is", int(min(n, 1<<40)), maxIndexJQ)
		}
	}
	return nil
}

// pathIn refuses what path does, and where the objects that are copied on the path,
// from a value on, have too many members.
func pathIn(from, v any) error {
	if err := path(v); err != nil {
		return err
	}
	list, _ := v.([]any)
	for _, at := range list {
		if object, ok := from.(map[string]any); ok {
			if err := fewMembers(object); err != nil {
				return err
			}
		}
		from = memberOf(from, at)
	}
	return nil
}

// paths returns paths in the order in which they are deleted.
func (m *meter) paths(from, v any) any {
	list, _ := v.([]any)
	if len(list) > maxPathsJQ {
		return tooLarge("the paths that are deleted are", len(list), maxPathsJQ)
	}
	for _, p := range list {
		if err := pathIn(from, p); err != nil {
			return err
		}
	}
	if list == nil {
		return v
	}
	return m.sort(v, v)
}

// step adds a path to those that an assignment sets in a value.
func (m *meter) step(v, p, in any) any {
	if err := pathIn(in, p); err != nil {
		return err
	}
	m.work(1)
	return m.result(append(v.([]any), p), nil)
}

// settle counts the lists and objects that an assignment to paths has made anew.
func (m *meter) settle(v, paths any) any {
	var before []any
	for i, p := range paths.([]any) {
		next, _ := p.([]any)
		at := v
		shared := i > 0 // with the path before
		for depth := 0; m.err == nil; depth++ {
			if !shared {
				m.keep(at)
			}
			if depth == len(next) {
				break
			}
			shared = shared && depth < len(before) && gojq.Compare(before[depth], next[depth]) == 0
			at = memberOf(at, next[depth])
		}
		before = next
	}
	return m.result(v, nil)
}

func memberOf(v, at any) any {
	switch v := v.(type) {
	case map[string]any:
		name, _ := at.(string)
		return v[name]
	case []any:
		n, ok := gojq.ToFloat64(at)
		if n < 0 {
			n += float64(len(v))
		}
		if ok && n >= 0 && n < float64(len(v)) {
			return v[int(n)]
		}
	}
	return nil
}

// reserved reports whether a name is one of those that instrument gives.
func reserved(name string) bool {
	return strings.HasPrefix(name, meteredPrefix) || strings.HasPrefix(name, "$__")
}
