// Package yamljson converts YAML to the JSON text of a Go type, so that the type need only be declared for JSON.
package yamljson

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"

	"seine/internal/base/jsontext"
	"seine/internal/base/lazyregexp"
)

// Convert returns a value as the JSON text that v, a pointer, can be decoded from. Types decide what a scalar is: a
// number is a text where v has a text. A scalar in place of a struct is a text, and one in place of a list is a
// member. A mapping in place of a list keeps its order. Members that the type lacks are converted by their own tags.
//
// The caller bounds the depth and the number of values, with aliases followed.
func Convert(n *yaml.Node, v any) ([]byte, error) {
	return appendValue(nil, n, reflect.TypeOf(v).Elem())
}

var (
	anyType = reflect.TypeFor[any]()
	texts   = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func appendValue(b []byte, n *yaml.Node, t reflect.Type) ([]byte, error) {
	n = target(n)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if isRaw(t) {
		t = anyType
	}
	switch n.Kind {
	case yaml.SequenceNode:
		return appendList(b, n, elementOf(t))
	case yaml.MappingNode:
		return appendObject(b, n, t)
	default:
		return appendScalar(b, n, t)
	}
}

// isRaw reports whether a type is JSON text of any kind.
func isRaw(t reflect.Type) bool { return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 }

// elementOf returns the type of the elements of a list or a map.
func elementOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		return t.Elem()
	}
	return anyType
}

func appendList(b []byte, n *yaml.Node, element reflect.Type) ([]byte, error) {
	b = append(b, '[')
	for i, c := range n.Content {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendValue(b, c, element); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendObject(b []byte, n *yaml.Node, t reflect.Type) (_ []byte, err error) {
	object := jsontext.Object{B: b}
	for _, m := range appendMembers(nil, n, make(map[string]bool)) {
		object.Key(m.key)
		if object.B, err = appendValue(object.B, m.value, typeOf(t, m.key)); err != nil {
			return nil, err
		}
	}
	return object.End(), nil
}

// typeOf returns the type of a member of an object.
func typeOf(t reflect.Type, key string) reflect.Type {
	if t.Kind() != reflect.Struct {
		return elementOf(t)
	}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == key {
			return f.Type
		}
	}
	return anyType
}

type member struct {
	key   string
	value *yaml.Node
}

// appendMembers appends the members of a mapping that are new, and then those that "<<" merges into it.
func appendMembers(all []member, n *yaml.Node, seen map[string]bool) []member {
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := target(n.Content[i]), n.Content[i+1]
		switch {
		case key.ShortTag() == "!!merge":
			merged = append(merged, target(value))
		case !seen[key.Value]:
			seen[key.Value] = true
			all = append(all, member{key.Value, value})
		}
	}
	for _, from := range merged {
		if from.Kind == yaml.MappingNode {
			all = appendMembers(all, from, seen)
			continue
		}
		for _, one := range from.Content {
			all = appendMembers(all, target(one), seen)
		}
	}
	return all
}

// target is what an alias stands for.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// number is a number that YAML and JSON write alike.
var number = lazyregexp.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

func appendScalar(b []byte, n *yaml.Node, t reflect.Type) ([]byte, error) {
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	isText := reflect.PointerTo(t).Implements(texts) || t.Kind() == reflect.String || t.Kind() == reflect.Struct
	switch tag := n.ShortTag(); {
	case tag == "!!null":
		return append(b, "null"...), nil
	case isText, t == anyType && (tag == "!!str" || tag == "!!timestamp"):
		return jsontext.AppendString(b, n.Value), nil
	case t == anyType && number().MatchString(n.Value):
		return append(b, n.Value...), nil
	}
	v := reflect.New(t)
	if err := n.Load(v.Interface()); err != nil {
		return nil, err
	}
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return nil, &yaml.LoadError{Message: "must be what JSON can say: " + err.Error(), Mark: yaml.Mark{Line: n.Line, Column: n.Column}}
	}
	return append(b, text...), nil
}
