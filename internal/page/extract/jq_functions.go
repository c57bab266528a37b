package extract

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"seine/internal/page/document"
)

// Metered functions: those that the interpreter would compute in one piece, in time
// or memory beyond its operands'. They mean what jq's do.

// order compares two values as jq does.
func (m *meter) order(l, r any) int {
	if !m.work(1) {
		return 0
	}
	switch l := l.(type) {
	case string:
		if r, ok := r.(string); ok {
			m.work(min(len(l), len(r)) / bytesAWork)
		}
	case []any:
		if r, ok := r.([]any); ok {
			return m.orderLists(l, r)
		}
	case map[string]any:
		if r, ok := r.(map[string]any); ok {
			return m.orderObjects(l, r)
		}
	}
	return gojq.Compare(l, r)
}

func (m *meter) orderLists(l, r []any) int {
	for i := range min(len(l), len(r)) {
		if c := m.order(l[i], r[i]); c != 0 || m.err != nil {
			return c
		}
	}
	return cmp.Compare(len(l), len(r))
}

func (m *meter) orderObjects(l, r map[string]any) int {
	names, others := m.names(l), m.names(r)
	if c := slices.Compare(names, others); c != 0 || m.err != nil {
		return c
	}
	for _, name := range names {
		if c := m.order(l[name], r[name]); c != 0 || m.err != nil {
			return c
		}
	}
	return 0
}

// names are the names of an object in order.
func (m *meter) names(object map[string]any) []string {
	names := slices.Collect(maps.Keys(object))
	m.untilDone(func(compare func(l, r any) int) {
		slices.SortFunc(names, func(a, b string) int { return compare(a, b) })
	})
	return names
}

// members are those of a list, or of an object in the order of their names.
func (m *meter) members(of string, v any) ([]any, error) {
	switch v := v.(type) {
	case []any:
		return v, nil
	case map[string]any:
		list := make([]any, 0, len(v))
		for _, name := range m.names(v) {
			list = append(list, v[name])
		}
		return list, m.err
	}
	return nil, notFor(of, v)
}

func notFor(name string, v any, with ...any) error {
	text := fmt.Sprintf("%s cannot be applied to: %s (%s)", name, gojq.TypeOf(v), gojq.Preview(v))
	for _, w := range with {
		text += fmt.Sprintf(" and: %s (%s)", gojq.TypeOf(w), gojq.Preview(w))
	}
	return errors.New(text)
}

// result is what a function returns to the interpreter.
func (m *meter) result(v any, err error) any {
	switch {
	case m.err != nil:
		return m.err
	case err != nil:
		return err
	}
	return v
}

func (m *meter) contains(v, in any) (bool, error) {
	m.work(1)
	switch l := v.(type) {
	case []any:
		if r, ok := in.([]any); ok {
			return m.containsAll(l, r), nil
		}
	case map[string]any:
		if r, ok := in.(map[string]any); ok {
			return m.containsNamed(l, r), nil
		}
	case string:
		if r, ok := in.(string); ok {
			m.work((len(l) + len(r)) / bytesAWork)
			return strings.Contains(l, r), nil
		}
	}
	if gojq.TypeOf(v) != gojq.TypeOf(in) {
		return false, notFor("contains", v, in)
	}
	equal := gojq.Compare(v, in) == 0
	if _, truth := v.(bool); truth && !equal {
		return false, notFor("contains", v, in)
	}
	return equal, nil
}

func (m *meter) containsAll(l, r []any) bool {
	for _, r := range r {
		found := slices.ContainsFunc(l, func(l any) bool {
			is, err := m.contains(l, r)
			return is && err == nil || m.err != nil
		})
		if !found || m.err != nil {
			return false
		}
	}
	return true
}

func (m *meter) containsNamed(l, r map[string]any) bool {
	if len(l) < len(r) {
		return false
	}
	for name, r := range r {
		l, ok := l[name]
		if !ok || m.err != nil {
			return false
		}
		if is, err := m.contains(l, r); !is || err != nil {
			return false
		}
	}
	return true
}

// places yields where part is in v, a list or a text, until yield is false.
func (m *meter) places(of string, v, part any, yield func(int) bool) error {
	switch v := v.(type) {
	case []any:
		list, ok := part.([]any)
		if !ok {
			list = []any{part}
		}
		for i := 0; len(list) > 0 && i+len(list) <= len(v) && m.work(1); i++ {
			if m.orderLists(v[i:i+len(list)], list) == 0 && !yield(i) {
				break
			}
		}
		return nil
	case string:
		if text, ok := part.(string); ok {
			m.placesOfText(v, text, yield)
			return nil
		}
	}
	return notFor(of, v, part)
}

// placesOfText counts in characters, as jq does.
func (m *meter) placesOfText(v, text string, yield func(int) bool) {
	for at, counted := 0, 0; text != ""; {
		i := strings.Index(v[at:], text)
		if i < 0 || !m.work(1+(i+len(text))/bytesAWork) {
			return
		}
		counted += utf8.RuneCountInString(v[at : at+i])
		if !yield(counted) {
			return
		}
		_, width := utf8.DecodeRuneInString(v[at+i:])
		at += i + width
		counted++
	}
}

func (m *meter) indices(v, part any) any {
	if v == nil {
		return nil
	}
	found := []any{}
	err := m.places("indices", v, part, func(i int) bool {
		found = append(found, i)
		return len(found) <= maxListJQ && m.work(1)
	})
	return m.result(m.keep(found), firstError(err, fewMembers(found)))
}

func (m *meter) index(v, part any) any {
	var first any
	if v == nil {
		return nil
	}
	err := m.places("index", v, part, func(i int) bool { first = i; return false })
	return m.result(first, err)
}

func (m *meter) rindex(v, part any) any {
	var last any
	if v == nil {
		return nil
	}
	err := m.places("rindex", v, part, func(i int) bool { last = i; return true })
	return m.result(last, err)
}

func (m *meter) split(v, by any) any {
	text, ok := v.(string)
	separator, is := by.(string)
	if !ok || !is {
		return notFor("split", v, by)
	}
	if err := splits(text, separator); err != nil {
		return err
	}
	parts := []any{}
	for part := range strings.SplitSeq(text, separator) {
		if text != "" {
			parts = append(parts, part)
		}
	}
	return m.keep(parts)
}

// splits refuses a text that has too many parts.
func splits(text, separator string) error {
	if len(text) > maxTextJQ {
		return tooLarge("the bytes of a text that a function is given are", len(text), maxTextJQ)
	}
	if n := strings.Count(text, separator); n > maxListJQ {
		return tooLarge("the parts of a text that is split are", n, maxListJQ)
	}
	return nil
}

func (m *meter) join(v, by any) any {
	list, err := m.members("join", v)
	separator, ok := by.(string)
	if err == nil && !ok && by != nil && len(list) > 1 {
		err = notFor("join", v, by)
	}
	var text strings.Builder
	for i, v := range list {
		if err != nil || !m.work(1) {
			break
		}
		if i > 0 {
			text.WriteString(separator)
		}
		switch v := v.(type) {
		case nil:
		case string:
			text.WriteString(v)
		case []any, map[string]any:
			err = notFor("join", v)
		default:
			var b []byte
			m.work(digits(v))
			b, err = gojq.Marshal(v)
			text.Write(b)
		}
		if text.Len() > maxTextJQ {
			err = tooLarge("the bytes of a text that is joined are at least", text.Len(), maxTextJQ)
		}
	}
	if err = firstError(m.err, err); err != nil {
		return err
	}
	return m.keep(text.String())
}

func firstError(first, other error) error {
	if first != nil {
		return first
	}
	return other
}

func (m *meter) flatten(v, depth any) any {
	list, err := m.members("flatten", v)
	levels, ok := gojq.ToFloat64(depth)
	switch {
	case err != nil:
		return err
	case !ok:
		return notFor("flatten", depth)
	case levels < 0:
		return errors.New("flatten depth must not be negative")
	}
	flat := m.flat([]any{}, list, levels)
	if m.err == nil && len(flat) > maxListJQ {
		return tooLarge("the members of a list that is made are at least", len(flat), maxListJQ)
	}
	return m.keep(flat)
}

func (m *meter) flat(to, list []any, levels float64) []any {
	for _, v := range list {
		if !m.work(1) || len(to) > maxListJQ {
			break
		}
		if inner, ok := v.([]any); ok && levels > 0 {
			to = m.flat(to, inner, levels-1)
		} else {
			to = append(to, v)
		}
	}
	return to
}

func (m *meter) transpose(v any) any {
	rows, ok := v.([]any)
	if !ok {
		return notFor("transpose", v)
	}
	longest := 0
	for _, row := range rows {
		list, ok := row.([]any)
		if !ok {
			return notFor("transpose", v)
		}
		longest = max(longest, len(list))
	}
	if n := longest * (len(rows) + 1); n > maxListJQ {
		return tooLarge("the members of the lists that transpose makes would be", n, maxListJQ)
	}
	columns := make([]any, longest)
	for i := range columns {
		column := make([]any, len(rows))
		for j, row := range rows {
			if list := row.([]any); i < len(list) {
				column[j] = list[i]
			}
		}
		if columns[i] = m.keep(column); m.err != nil {
			return m.err
		}
	}
	return m.keep(columns)
}

func (m *meter) fromJSON(v any) any {
	text, ok := v.(string)
	switch {
	case !ok:
		return notFor("fromjson", v)
	case len(text) > maxTextParseJQ:
		return tooLarge("the bytes of a text that fromjson is given are", len(text), maxTextParseJQ)
	}
	value, rest, err := document.Value([]byte(text))
	if err == nil && len(bytes.TrimSpace(rest)) > 0 {
		err = errors.New("there is more after the first value")
	}
	if err != nil {
		return fmt.Errorf("fromjson cannot be applied to: %s: %w", gojq.Preview(v), err)
	}
	m.keepAll(value)
	return m.result(value, nil)
}

// keepAll counts a value and all within it.
func (m *meter) keepAll(v any) {
	m.keep(v)
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			m.keepAll(e)
		}
	case map[string]any:
		for _, e := range v {
			m.keepAll(e)
		}
	}
}

func (m *meter) search(v, wanted any) any {
	list, ok := v.([]any)
	if !ok {
		return notFor("bsearch", v, wanted)
	}
	i, found := slices.BinarySearchFunc(list, wanted, m.order)
	if !found {
		i = -i - 1
	}
	return m.result(i, nil)
}
