package format

import (
	"bytes"
	"slices"

	"seine/internal/base/jsontext"
)

// Infer infers the columns of records of one kind from the records alone. The zero value has seen
// none.
type Infer struct {
	columns []Column // in the order of their first appearance
	byName  map[string]int
	known   []bool // whether a value that determines the type was seen
	elems   []bool // for a list: whether an element was seen
}

// Add learns from a record, a JSON object. It keeps only member names of it.
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

// maxName bounds the names of columns, in bytes. Members with longer names go to More.
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
	case c.List && seen.List && !elements: // an empty list
	case c.List && seen.List && !f.elems[i]:
		*c, f.elems[i] = seen, true
	default:
		*c = c.join(seen)
	}
}

// columnOf returns the narrowest column that a value fits. A list of non-scalars or of several
// types is JSON. elements reports whether a list has elements that determine the type.
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

// Columns returns the columns: first those that every record has, then the others in the order of
// their first appearance.
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
