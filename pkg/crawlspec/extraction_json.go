package crawlspec

import (
	"encoding/json"
	"errors"
	"fmt"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
)

// textOr decodes b into text if it is a text, which is a short form of the object that v points to.
// Unknown members are errors, as in the rest of a spec.
func textOr(b []byte, text, v any) error {
	if isText(b) {
		return jsontext.Unmarshal(b, text)
	}
	return jsontext.UnmarshalStrict(b, v)
}

func isText(b []byte) bool { return len(b) > 0 && b[0] == '"' }

// UnmarshalJSON accepts a selector, or a CSS selector as its short form.
func (e *Each) UnmarshalJSON(b []byte) error {
	type plain Each
	return textOr(b, &e.CSS, (*plain)(e))
}

// UnmarshalJSON accepts a condition, or a CSS selector as its short form.
func (c *Condition) UnmarshalJSON(b []byte) error {
	type plain Condition
	return textOr(b, &c.CSS, (*plain)(c))
}

// UnmarshalJSON accepts a field, or a CSS selector as its short form.
func (f *Field) UnmarshalJSON(b []byte) error {
	type plain Field
	return textOr(b, &f.CSS, (*plain)(f))
}

// NamedField is a field and its name.
type NamedField struct {
	Name string
	Field
}

// Fields are fields in the order in which they were written, which is that of
// the record. In YAML and JSON they are an object.
type Fields []NamedField

// MarshalJSON writes the fields as an object, in their order.
func (fs Fields) MarshalJSON() ([]byte, error) {
	var object jsontext.Object
	for i := range fs {
		field, err := json.Marshal(&fs[i].Field)
		if err != nil {
			return nil, err
		}
		object.Raw(fs[i].Name, field)
	}
	return object.End(), nil
}

// UnmarshalJSON decodes fields and keeps their order.
func (fs *Fields) UnmarshalJSON(b []byte) error {
	*fs = nil
	if string(b) == "null" {
		return nil
	}
	if b[0] != '{' {
		return errors.New("fields: must be an object")
	}
	all := Fields{}
	m := jsontext.MembersOf(b)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		field := NamedField{Name: string(jsontext.AppendText(nil, name))}
		if err := jsontext.Unmarshal(value, &field.Field); err != nil {
			return fmt.Errorf("field %q: %w", messages.Clip(field.Name), err)
		}
		all = append(all, field)
	}
	*fs = all
	return nil
}

// Strings is a list of texts; a single text stands for a list of one.
type Strings []string

// UnmarshalJSON accepts a text, or a list of them.
func (s *Strings) UnmarshalJSON(b []byte) error { return oneOrMore(b, (*[]string)(s)) }

// Ints is a list of whole numbers; a single one stands for a list of one.
type Ints []int

// UnmarshalJSON accepts a number, or a list of them.
func (s *Ints) UnmarshalJSON(b []byte) error { return oneOrMore(b, (*[]int)(s)) }

// oneOrMore leaves s unchanged for null, as encoding/json requires.
func oneOrMore[T any](b []byte, s *[]T) error {
	switch {
	case string(b) == "null":
		return nil
	case len(b) > 0 && b[0] == '[':
		*s = nil
		return jsontext.Unmarshal(b, s)
	}
	var one T
	if err := jsontext.Unmarshal(b, &one); err != nil {
		return err
	}
	*s = []T{one}
	return nil
}

// Value is any value, as JSON text; nil is none.
type Value json.RawMessage

// MarshalJSON returns the text.
func (v Value) MarshalJSON() ([]byte, error) {
	if v == nil {
		return []byte("null"), nil
	}
	return v, nil
}

// UnmarshalJSON keeps the text.
func (v *Value) UnmarshalJSON(b []byte) error {
	*v = nil
	if string(b) != "null" {
		*v = append(*v, b...)
	}
	return nil
}
