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

// nodeKind is what a value of a spec is in YAML.
type nodeKind int

const (
	formScalar nodeKind = iota // text, number or boolean, as Go's type says
	formObject                 // known keys
	formMap                    // any keys, all with values of one shape
	formList
	formAny // anything that JSON has
)

// typeSchema is what may stand at one place of a spec: what the Go type there reads.
type typeSchema struct {
	form nodeKind
	typ  reflect.Type // without pointers
	keys []key        // of an object, in the order of the Go type
	elem *typeSchema  // of a map or a list
	// short is what a single scalar is: the member of a list of one, or the CSS
	// selector of a field.
	short *typeSchema
}

// key is a key of an object.
type key struct {
	name  string
	shape *typeSchema
	owner reflect.Type // struct that has the field
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

// below says where a key of that name is: in the first key whose value is an object with one, or a list of such objects; "" if
// there is none.
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

// shapes makes the shapes of Go types, each once: a field has fields.
type shapes map[reflect.Type]*typeSchema

// specShape is the shape of a whole spec.
var specShape = sync.OnceValue(func() *typeSchema { return shapes{}.of(reflect.TypeFor[crawlspec.Spec]()) })

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// Types that read JSON by themselves. Beside these two, a list that does takes one
// member for a list of one, and a struct takes a CSS selector; alerts take off, a seed a URL,
// render a mode.
var (
	unmarshaler = reflect.TypeFor[json.Unmarshaler]()
	valueType   = reflect.TypeFor[crawlspec.Value]()
	fieldsType  = reflect.TypeFor[crawlspec.Fields]()
	seedType    = reflect.TypeFor[crawlspec.Seed]()
	alertsType  = reflect.TypeFor[crawlspec.Alerts]()
	renderType  = reflect.TypeFor[crawlspec.Render]()
)

func (all shapes) of(t reflect.Type) *typeSchema {
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

// addKeys adds the keys of a struct, and of those embedded in it.
func (all shapes) addKeys(s *typeSchema, t reflect.Type) {
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
