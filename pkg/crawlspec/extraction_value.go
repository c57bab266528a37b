package crawlspec

import (
	"bytes"
	"encoding/json"
	"regexp"

	"go.yaml.in/yaml/v4"

	"seine/pkg/messages"
)

// Value is any value, as JSON text; nil is none.
type Value json.RawMessage

// UnmarshalYAML reads any value that JSON has. A number stays as it is written,
// and so does a date, which is a text to JSON.
func (v *Value) UnmarshalYAML(n *yaml.Node) error {
	if expanded(n, make(map[*yaml.Node]int), 0) > maxNodes {
		return at(n, "too much: with its aliases it has more than %d values, or is too deep", maxNodes)
	}
	plain, err := plainNode(n)
	if err != nil {
		return err
	}
	b, err := json.Marshal(plain)
	if err != nil {
		return at(n, "must be what JSON can say: %v", err)
	}
	*v = b
	return nil
}

// plainNode returns the value of a node as encoding/json takes it.
func plainNode(n *yaml.Node) (any, error) {
	n = followAlias(n)
	switch n.Kind {
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			var err error
			if list[i], err = plainNode(c); err != nil {
				return nil, err
			}
		}
		return list, nil
	case yaml.MappingNode:
		return plainMapping(n)
	default:
		return plainScalar(n)
	}
}

func plainMapping(n *yaml.Node) (any, error) {
	object := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := followAlias(n.Content[i])
		_, again := object[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge":
			return nil, at(key, "the name of a member must be a plain text")
		case again:
			return nil, at(key, "%q is there twice", messages.Clip(key.Value))
		}
		var err error
		if object[key.Value], err = plainNode(n.Content[i+1]); err != nil {
			return nil, err
		}
	}
	return object, nil
}

// jsonNumber is a number that YAML and JSON write alike.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

func plainScalar(n *yaml.Node) (any, error) {
	switch tag := n.ShortTag(); {
	case tag == "!!timestamp":
		return n.Value, nil
	case (tag == "!!int" || tag == "!!float") && jsonNumber.MatchString(n.Value):
		return json.Number(n.Value), nil
	}
	var v any
	err := load(n, &v)
	return v, err
}

// MarshalJSON returns the text.
func (v Value) MarshalJSON() ([]byte, error) {
	if v == nil {
		return []byte("null"), nil
	}
	return v, nil
}

// UnmarshalJSON keeps the text.
func (v *Value) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*v = nil
		return nil
	}
	*v = append(Value(nil), b...)
	return nil
}

// MarshalYAML returns the value as the YAML package knows it, its numbers as they
// are written.
func (v Value) MarshalYAML() (any, error) {
	if v == nil {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(v)) //nolint:forbidigo // into no struct
	d.UseNumber()
	var plain any
	if err := d.Decode(&plain); err != nil {
		return nil, err
	}
	return asWritten(plain), nil
}

// asWritten replaces numbers by nodes, which are dumped as they are.
func asWritten(v any) any {
	switch v := v.(type) {
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: v.String()}
	case []any:
		for i := range v {
			v[i] = asWritten(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = asWritten(v[k])
		}
	}
	return v
}
