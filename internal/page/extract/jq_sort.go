package extract

import (
	"cmp"
	"slices"
)

// keyed gives the list that a function sorts, and the order of its members by keys.
func (m *meter) keyed(of string, v, by any) (list, keys []any, order []int, err error) {
	list, ok := v.([]any)
	keys, is := by.([]any)
	if !ok || !is || len(list) != len(keys) {
		return nil, nil, nil, notFor(of, v)
	}
	order = make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	m.untilDone(func(compare func(l, r any) int) {
		slices.SortFunc(order, func(a, b int) int { // stable by the last comparison
			return cmp.Or(compare(keys[a], keys[b]), cmp.Compare(a, b))
		})
	})
	return list, keys, order, m.err
}

// untilDone does what takes many comparisons, and leaves it where it is when the
// evaluation must end.
func (m *meter) untilDone(do func(compare func(l, r any) int)) {
	type leave struct{}
	defer func() {
		if p := recover(); p != nil && p != (leave{}) {
			panic(p)
		}
	}()
	do(func(l, r any) int {
		c := m.order(l, r)
		if m.err != nil {
			panic(leave{})
		}
		return c
	})
}

func (m *meter) sort(v, by any) any {
	list, _, order, err := m.keyed("sort", v, by)
	if err != nil {
		return err
	}
	sorted := make([]any, len(list))
	for i, at := range order {
		sorted[i] = list[at]
	}
	return m.keep(sorted)
}

// groups calls begin where another key begins, and member for each of its members.
func (m *meter) groups(of string, v, by any, begin func(), member func(v any)) error {
	list, keys, order, err := m.keyed(of, v, by)
	if err != nil {
		return err
	}
	for i, at := range order {
		if i == 0 || m.order(keys[order[i-1]], keys[at]) != 0 {
			begin()
		}
		member(list[at])
	}
	return m.err
}

func (m *meter) group(v, by any) any {
	groups := []any{}
	var group []any
	end := func() {
		if group != nil {
			groups = append(groups, m.keep(group))
			group = nil
		}
	}
	err := m.groups("group_by", v, by, end, func(v any) { group = append(group, v) })
	end()
	if err != nil {
		return err
	}
	return m.result(m.keep(groups), m.err)
}

func (m *meter) unique(v, by any) any {
	firsts := []any{}
	first := false
	err := m.groups("unique", v, by, func() { first = true }, func(v any) {
		if first {
			firsts = append(firsts, v)
		}
		first = false
	})
	if err != nil {
		return err
	}
	return m.keep(firsts)
}

// extreme returns the member with the least key, the first of them, for sign 1, and
// that with the greatest, the last of them, for sign -1.
func (m *meter) extreme(of string, v, by any, sign int) any {
	list, ok := v.([]any)
	keys, is := by.([]any)
	if !ok || !is || len(list) != len(keys) {
		return notFor(of, v)
	}
	best := 0
	for i := range keys {
		if c := sign * m.order(keys[best], keys[i]); c > 0 || c == 0 && sign < 0 {
			best = i
		}
	}
	if len(list) == 0 {
		return m.result(nil, nil)
	}
	return m.result(list[best], nil)
}
