package jsontext

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// Unmarshal is json.Unmarshal, but exact about names, at every depth. A member of an
// object is that of a field of a struct only if it has its very name: encoding/json
// takes "URL" and "Url" for "url" too, so a field that a stranger or a spec may name
// would replace one of Seine's. Of members of one name the last counts, where
// encoding/json merges those that are objects. Other members are ignored.
//
// Types with an UnmarshalJSON of their own must call Unmarshal in it. Each such type
// around another reads the same text again, so time grows with how deep a text nests
// such types in themselves, as in encoding/json.
func Unmarshal(text []byte, v any) error { return unmarshal(text, v, false) }

// UnmarshalStrict is Unmarshal, but returns an error for a member that is no field of
// its struct, and for one that is there twice.
func UnmarshalStrict(text []byte, v any) error { return unmarshal(text, v, true) }

func unmarshal(text []byte, v any, strict bool) error {
	t := reflect.TypeOf(v)
	if t == nil || !hasNames(t) || isExact(text, t) || !json.Valid(text) {
		return json.Unmarshal(text, v) // which says what is wrong
	}
	e := exact{strict: strict}
	out := e.value(make([]byte, 0, len(text)), bytes.TrimSpace(text), t)
	if e.err != nil {
		return e.err
	}
	return json.Unmarshal(out, v)
}

// isExact reports whether nothing of a text is to be left out for a type that has names: each member of each object is
// of a field, by its very name, once. Of what is no JSON it may say anything.
func isExact(text []byte, t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	text = text[skipSpace(text, 0):]
	m := MembersOf(text)
	switch {
	case m.Bad():
		return true // a value of another kind has no names
	case t.Kind() == reflect.Struct && text[0] == '{':
		fields, seen := fieldsOf(t), uint64(0)
		for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
			f, known := fields[string(name)]
			if !known || f.n >= 64 || seen&(1<<f.n) != 0 || f.named && !isExact(value, f.is) {
				return false
			}
			seen |= 1 << f.n
		}
	case t.Kind() == reflect.Map && text[0] == '{':
		for _, value, ok := m.Next(); ok; _, value, ok = m.Next() {
			if !isExact(value, t.Elem()) {
				return false
			}
		}
	case (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && text[0] == '[':
		for value, ok := m.Element(); ok; value, ok = m.Element() {
			if !isExact(value, t.Elem()) {
				return false
			}
		}
	}
	return !m.Bad()
}

// exact copies valid JSON without what is not of the names of a type.
type exact struct {
	strict bool
	err    error
}

// value appends a value for a type.
func (e *exact) value(out, text []byte, t reflect.Type) []byte {
	if !hasNames(t) {
		return append(out, text...)
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Struct && text[0] == '{':
		return e.object(out, text, fieldsOf(t))
	case t.Kind() == reflect.Map && text[0] == '{':
		return e.mapping(out, text, t.Elem())
	case (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && text[0] == '[':
		out = append(out, '[')
		m := MembersOf(text)
		for i := 0; ; i++ {
			element, ok := m.Element()
			if !ok {
				return append(out, ']')
			}
			if i > 0 {
				out = append(out, ',')
			}
			out = e.value(out, element, t.Elem())
		}
	}
	return append(out, text...) // of the wrong type, or null
}

// object appends the last member of each name that the struct has.
func (e *exact) object(out, text []byte, fields map[string]field) []byte {
	type member struct {
		name  string
		value []byte
	}
	var all []member
	at := make(map[string]int)
	m := MembersOf(text)
	for quoted, value, ok := m.Next(); ok; quoted, value, ok = m.Next() {
		name := string(AppendText(nil, quoted))
		i, again := at[name]
		switch _, known := fields[name]; {
		case !known && e.strict:
			e.fail(fmt.Errorf("unknown field %q", name))
		case !known:
		case again && e.strict:
			e.fail(fmt.Errorf("field %q is there twice", name))
		case again:
			all[i].value = value
		default:
			at[name] = len(all)
			all = append(all, member{name, value})
		}
	}
	o := Object{B: out}
	for _, f := range all {
		o.Key(f.name)
		o.B = e.value(o.B, f.value, fields[f.name].is)
	}
	return o.End()
}

// mapping appends all members: encoding/json is exact about the names of a map.
func (e *exact) mapping(out, text []byte, elem reflect.Type) []byte {
	open := byte('{')
	m := MembersOf(text)
	for quoted, value, ok := m.Next(); ok; quoted, value, ok = m.Next() {
		out = append(append(append(out, open, '"'), quoted...), '"', ':')
		out = e.value(out, value, elem)
		open = ','
	}
	if open == '{' {
		out = append(out, open)
	}
	return append(out, '}')
}

func (e *exact) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

var (
	readsJSON = reflect.TypeFor[json.Unmarshaler]()
	readsText = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// hasNames reports whether a value of the type may have fields of structs, other than
// those of which it reads the names itself.
func hasNames(t reflect.Type) bool {
	for {
		if p := reflect.PointerTo(t); p.Implements(readsJSON) || p.Implements(readsText) {
			return false
		}
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			t = t.Elem()
		default:
			return t.Kind() == reflect.Struct
		}
	}
}

// field is a field of a struct.
type field struct {
	is    reflect.Type
	named bool // see hasNames
	n     int  // of those of the struct, from 0
}

// known are the fields of structs, map[string]field by reflect.Type.
var known sync.Map

// fieldsOf returns the fields that encoding/json reads, by name.
func fieldsOf(t reflect.Type) map[string]field {
	if have, ok := known.Load(t); ok {
		return have.(map[string]field)
	}
	fields, seen := make(map[string]field), map[reflect.Type]bool{t: true}
	for level := []reflect.Type{t}; len(level) > 0; {
		var next []reflect.Type // what is embedded: a field further up hides one further down
		for _, s := range level {
			for i := range s.NumField() {
				f := s.Field(i)
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				embedded := f.Type
				if embedded.Kind() == reflect.Pointer {
					embedded = embedded.Elem()
				}
				switch {
				case name == "-" && f.Tag.Get("json") == "-":
				case f.Anonymous && name == "" && embedded.Kind() == reflect.Struct:
					if !seen[embedded] {
						next, seen[embedded] = append(next, embedded), true
					}
				case !f.IsExported():
				default:
					if name == "" {
						name = f.Name
					}
					if _, hidden := fields[name]; !hidden {
						fields[name] = field{f.Type, hasNames(f.Type), len(fields)}
					}
				}
			}
		}
		level = next
	}
	known.Store(t, fields)
	return fields
}
