package format

import (
	"bytes"
	"slices"

	"seine/internal/base/jsontext"
)

// Infer finds out the columns of records of one kind, of which nothing is known
// but the records. The zero value has seen none.
type Infer struct {
	columns []Column // in the order in which they were seen
	byName  map[string]int
	known   []bool // whether a value was seen that says the type
	elems   []bool // of a list: whether an element was
}

// Add learns from a record, a JSON object. It keeps none of it but names.
func (f *Infer) Add(record []byte) {
	if f.byName == nil {
		f.byName = make(map[string]int)
	}
	m := jsontext.MembersOf(record)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		if bytes.IndexByte(name, '\\') >= 0 {
			name = jsontext.AppendText(nil, name)
		}
		f.see(string(bytes.ToValidUTF8(name, []byte("\ufffd"))), value)
	}
}

func (f *Infer) see(name string, value []byte) {
	i, ok := f.byName[name]
	if !ok {
		if len(f.columns) == maxColumns || len(name) > maxName {
			return
		}
		i = len(f.columns)
		f.byName[name] = i
		f.columns = append(f.columns, Column{Name: name})
		f.known, f.elems = append(f.known, false), append(f.elems, false)
	}
	f.join(i, value)
}

// maxName bounds the names of columns, in bytes: what has a longer one is in More.
const maxName = 256

// join widens column i so that the value fits.
func (f *Infer) join(i int, value []byte) {
	c := &f.columns[i]
	if string(value) == "null" || string(value) == `""` && c.Type == Time {
		return
	}
	seen, elements := columnOf(value)
	seen.Name = c.Name
	switch {
	case !f.known[i]:
		*c, f.known[i], f.elems[i] = seen, true, elements
	case c.List && seen.List && !elements: // a list of nothing
	case c.List && seen.List && !f.elems[i]:
		*c, f.elems[i] = seen, true
	default:
		*c = c.join(seen)
	}
}

// columnOf returns the narrowest column that a value fits. A list of no scalars, or
// of several types, is JSON; elements says whether a list has any that tell.
func columnOf(value []byte) (c Column, elements bool) {
	switch value[0] {
	case '{':
		return Column{Type: JSON}, false
	case '[':
		return listOf(value)
	}
	return Column{Type: typeOf(value)}, true
}

func listOf(value []byte) (c Column, elements bool) {
	c.List = true
	m := jsontext.MembersOf(value)
	for e, ok := m.Element(); ok; e, ok = m.Element() {
		if string(e) == "null" {
			continue
		}
		t := typeOf(e)
		if !elements {
			c.Type, elements = t, true
		} else {
			c = c.join(Column{Type: t, List: true})
		}
		if c.Type == JSON {
			return Column{Type: JSON}, false
		}
	}
	return c, elements
}

// typeOf returns the narrowest type of a scalar, and JSON for anything else.
func typeOf(value []byte) Type {
	var ignored cell
	for _, t := range []Type{Integer, Number, Bool, Time, Text} {
		if t.read(value, &ignored) {
			return t
		}
	}
	return JSON
}

// Columns returns the columns: those that every record has first, then the others
// as they were seen.
func (f *Infer) Columns() []Column {
	var first, rest []Column
	for _, e := range Envelope() {
		if i, ok := f.byName[e.Name]; ok {
			first = append(first, f.columns[i])
		}
	}
	for _, c := range f.columns {
		if !slices.ContainsFunc(first, func(e Column) bool { return e.Name == c.Name }) {
			rest = append(rest, c)
		}
	}
	return append(first, rest...)
}
