package specfile

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"seine/pkg/crawlspec"
)

// nodeKind is the YAML form of a value.
type nodeKind int

const (
	formScalar nodeKind = iota // text, number or boolean, by its Go type
	formObject                 // known keys
	formMap                    // any keys, all values of one schema
	formList
	formAny // any JSON value
)

// typeSchema describes the values of one key of a spec, from its Go type.
type typeSchema struct {
	form nodeKind
	typ  reflect.Type // without pointers
	keys []key        // of an object, in the order of the Go fields
	elem *typeSchema  // of a map or a list
	// short is the schema of a single scalar in place of a list or an object: the member of a list
	// of one, or the CSS selector of a field.
	short *typeSchema
}

// key is a key of an object.
type key struct {
	name  string
	shape *typeSchema
	owner reflect.Type // struct with the field
	field reflect.StructField
}

func (s *typeSchema) key(name string) *typeSchema {
	for i := range s.keys {
		if s.keys[i].name == name {
			return s.keys[i].shape
		}
	}
	return nil
}

func (s *typeSchema) names() []string {
	out := make([]string, len(s.keys))
	for i := range s.keys {
		out[i] = s.keys[i].name
	}
	return out
}

// below returns where a key of that name exists one level down: in the first key whose value is an
// object with it, or a list of such objects. It returns "" if there is none.
func (s *typeSchema) below(name string) string {
	for i := range s.keys {
		key, in := s.keys[i].name, s.keys[i].shape
		switch {
		case in.form == formObject && in.key(name) != nil:
			return fmt.Sprintf("%s.%s, as in %[1]s: {%[2]s: …}", key, name)
		case in.form == formList && in.elem.key(name) != nil:
			return fmt.Sprintf("%s[].%s, as in %[1]s: [{%[2]s: …}]", key, name)
		}
	}
	return ""
}

// schemaCache caches the schemas of Go types, which may be recursive.
type schemaCache map[reflect.Type]*typeSchema

// specShape returns the schema of a whole spec.
var specShape = sync.OnceValue(func() *typeSchema { return schemaCache{}.of(reflect.TypeFor[crawlspec.Spec]()) })

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// Types that implement json.Unmarshaler. Apart from Value and Fields, a list accepts a single
// member, and a struct accepts a CSS selector; alerts accept off, a seed a URL, render a mode.
var (
	unmarshaler = reflect.TypeFor[json.Unmarshaler]()
	valueType   = reflect.TypeFor[crawlspec.Value]()
	fieldsType  = reflect.TypeFor[crawlspec.Fields]()
	seedType    = reflect.TypeFor[crawlspec.Seed]()
	alertsType  = reflect.TypeFor[crawlspec.Alerts]()
	renderType  = reflect.TypeFor[crawlspec.Render]()
)

func (all schemaCache) of(t reflect.Type) *typeSchema {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s := all[t]; s != nil {
		return s
	}
	s := &typeSchema{typ: t}
	all[t] = s
	switch {
	case t == valueType:
		s.form = formAny
	case t == fieldsType:
		s.form, s.elem = formMap, all.of(reflect.TypeFor[crawlspec.Field]())
	case reflect.PointerTo(t).Implements(textUnmarshaler):
	case t.Kind() == reflect.Struct:
		s.form = formObject
		all.addKeys(s, t)
	case t.Kind() == reflect.Map:
		s.form, s.elem = formMap, all.of(t.Elem())
	case t.Kind() == reflect.Slice:
		s.form, s.elem = formList, all.of(t.Elem())
	}
	switch reads := reflect.PointerTo(t).Implements(unmarshaler); {
	case reads && s.form == formList:
		s.short = s.elem
	case t == alertsType:
		s.short = all.of(reflect.TypeFor[crawlspec.AlertsOff]())
	case t == renderType:
		s.short = all.of(reflect.TypeFor[crawlspec.RenderMode]())
	case reads && s.form == formObject:
		s.short = all.of(reflect.TypeFor[string]())
	}
	return s
}

// addKeys adds the keys of a struct and of its embedded structs.
func (all schemaCache) addKeys(s *typeSchema, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			all.addKeys(s, f.Type)
		case name != "":
			s.keys = append(s.keys, key{name: name, shape: all.of(f.Type), owner: t, field: f})
		}
	}
}
