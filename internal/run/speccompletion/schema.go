package speccompletion

import (
	"strings"
	"sync"

	"seine/internal/base/jsontext"
	"seine/internal/run/specfile"
)

// schema is what JSON Schema says of a value, as far as specfile.Schema uses it.
type schema struct {
	Ref         string             `json:"$ref"`
	Type        oneOrMore          `json:"type"`
	Description string             `json:"description"`
	Enum        []string           `json:"enum"`
	AnyOf       []*schema          `json:"anyOf"`
	Items       *schema            `json:"items"`
	Properties  map[string]*schema `json:"properties"`
	Additional  additional         `json:"additionalProperties"`
	Default     rawText            `json:"default"`
	Examples    []string           `json:"examples"`
	Defs        map[string]*schema `json:"$defs"`
}

// oneOrMore is a text, or a list of them.
type oneOrMore []string

// UnmarshalJSON implements json.Unmarshaler.
func (o *oneOrMore) UnmarshalJSON(text []byte) error {
	var one string
	if jsontext.Unmarshal(text, &one) == nil {
		*o = oneOrMore{one}
		return nil
	}
	return jsontext.Unmarshal(text, (*[]string)(o))
}

// additional is the schema of keys that have any name, nil where there are none.
type additional struct{ of *schema }

// UnmarshalJSON implements json.Unmarshaler.
func (a *additional) UnmarshalJSON(text []byte) error {
	if string(text) == "false" {
		return nil
	}
	return jsontext.Unmarshal(text, &a.of)
}

// rawText is a value as it is written.
type rawText string

// UnmarshalJSON implements json.Unmarshaler.
func (r *rawText) UnmarshalJSON(text []byte) error {
	*r = rawText(text)
	return nil
}

// root is the schema of a whole spec, in which what refers to a definition is that definition, but for its description
// and its default.
var root = sync.OnceValue(func() *schema {
	s := new(schema)
	if err := jsontext.Unmarshal(specfile.Schema, s); err != nil {
		panic(err) // it is in this program
	}
	defs, seen := s.Defs, make(map[*schema]bool)
	var resolve func(s *schema)
	resolve = func(s *schema) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		if def := defs[strings.TrimPrefix(s.Ref, "#/$defs/")]; def != nil {
			s.Type, s.Properties, s.Additional = def.Type, def.Properties, def.Additional
		}
		for _, p := range s.Properties {
			resolve(p)
		}
		for _, p := range s.AnyOf {
			resolve(p)
		}
		resolve(s.Items)
		resolve(s.Additional.of)
	}
	resolve(s)
	return s
})

// forms are the sorts of value that a schema allows.
func (s *schema) forms() []*schema {
	switch {
	case s == nil:
		return nil
	case len(s.AnyOf) > 0:
		return s.AnyOf
	}
	return []*schema{s}
}

// object is the form with keys, nil if there is none.
func (s *schema) object() *schema {
	for _, f := range s.forms() {
		if f.Properties != nil || f.Additional.of != nil {
			return f
		}
	}
	return nil
}

// items is what the members of a list are, nil if there is no list.
func (s *schema) items() *schema {
	for _, f := range s.forms() {
		if f.Items != nil {
			return f.Items
		}
	}
	return nil
}

// member is the value of a key of an object, nil for a key that is not known.
func (s *schema) member(name string) *schema {
	o := s.object()
	switch {
	case o == nil:
		return nil
	case o.Properties[name] != nil:
		return o.Properties[name]
	}
	return o.Additional.of
}

// values are those of which it has one.
func (s *schema) values() (all []string, texts bool) {
	for _, f := range s.forms() {
		switch {
		case len(f.Enum) > 0:
			return f.Enum, true
		case len(f.Type) == 1 && f.Type[0] == "boolean":
			return []string{"true", "false"}, false
		}
	}
	return nil, false
}

// isScalar reports whether a value may be written in one word.
func (s *schema) isScalar() bool {
	for _, f := range s.forms() {
		if f.Items == nil && f.Properties == nil && f.Additional.of == nil {
			return true
		}
	}
	return false
}

// words are what types are called.
var words = map[string]string{"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "object": "keys with values"}

// maxNamed is how many values are named as the type of a key.
const maxNamed = 4

// typeName says in words what a value is.
func (s *schema) typeName() string {
	var all []string
	for _, f := range s.forms() {
		all = append(all, f.formName())
	}
	return strings.Join(all, ", or ")
}

func (s *schema) formName() string {
	switch {
	case s.Items != nil:
		return "list of " + s.Items.typeName()
	case len(s.Enum) > maxNamed:
		return strings.Join(s.Enum[:maxNamed], ", ") + ", …"
	case len(s.Enum) > 0:
		return strings.Join(s.Enum, ", ")
	case len(s.Examples) > 0:
		return "text such as " + strings.Join(s.Examples, ", ")
	case len(s.Type) == 0:
		return "anything"
	}
	names := make([]string, len(s.Type))
	for i, t := range s.Type {
		names[i] = words[t]
	}
	return strings.Join(names, " or ")
}

// sentence is the first of a text.
func sentence(text string) string {
	first, _, more := strings.Cut(text, ". ")
	if more {
		first += "."
	}
	return first
}
