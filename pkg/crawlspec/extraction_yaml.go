package crawlspec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v4"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
)

// NamedField is a field and its name.
type NamedField struct {
	Name string
	Field
}

// Fields are fields in the order in which they were written, which is that of
// the record. In YAML and JSON they are an object.
type Fields []NamedField

// UnmarshalYAML reads fields in their order.
func (fs *Fields) UnmarshalYAML(n *yaml.Node) error {
	if n = followAlias(n); n.Kind != yaml.MappingNode {
		return at(n, "fields: must be names, each with its selector")
	}
	if expanded(n, make(map[*yaml.Node]int), 0) > maxNodes {
		return at(n, "fields: too much: with its aliases it has more than %d values, or is too deep", maxNodes)
	}
	all := make(Fields, 0, len(n.Content)/2)
	seen := make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := followAlias(n.Content[i]), n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge":
			return at(key, "the name of a field must be a plain text")
		case seen[key.Value]:
			return at(key, "field %q is there twice", messages.Clip(key.Value))
		}
		seen[key.Value] = true
		all = append(all, NamedField{Name: key.Value})
		if err := load(value, &all[len(all)-1].Field); err != nil {
			return err
		}
	}
	*fs = all
	return nil
}

// MarshalJSON writes the fields as an object, in their order.
func (fs Fields) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i := range fs {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := json.Marshal(fs[i].Name)
		if err != nil {
			return nil, err
		}
		field, err := json.Marshal(&fs[i].Field)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), field...)
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads fields in their order.
func (fs *Fields) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b)) //nolint:forbidigo // into no struct
	start, err := d.Token()
	if err != nil {
		return err
	}
	if start == nil {
		*fs = nil
		return nil
	}
	if start != json.Delim('{') {
		return errors.New("fields: must be an object")
	}
	all := Fields{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		all = append(all, NamedField{Name: fmt.Sprint(name)})
		if err := d.Decode(&all[len(all)-1].Field); err != nil {
			return fmt.Errorf("field %q: %w", messages.Clip(all[len(all)-1].Name), err)
		}
	}
	*fs = all
	return nil
}

// Strings is a list of texts; a single text stands for a list of one.
type Strings []string

// UnmarshalYAML reads a text, or a list of them.
func (s *Strings) UnmarshalYAML(n *yaml.Node) error {
	if text, ok := scalarText(n); ok {
		*s = Strings{text}
		return nil
	}
	*s = nil
	return load(n, (*[]string)(s))
}

// UnmarshalJSON reads a text, or a list of them.
func (s *Strings) UnmarshalJSON(b []byte) error { return oneOrMore(b, (*[]string)(s)) }

// Ints is a list of whole numbers; a single one stands for a list of one.
type Ints []int

// UnmarshalYAML reads a number, or a list of them.
func (s *Ints) UnmarshalYAML(n *yaml.Node) error {
	*s = nil
	if followAlias(n).Kind == yaml.SequenceNode {
		return load(n, (*[]int)(s))
	}
	var one int
	if err := load(n, &one); err != nil {
		return err
	}
	*s = Ints{one}
	return nil
}

// UnmarshalJSON reads a number, or a list of them.
func (s *Ints) UnmarshalJSON(b []byte) error { return oneOrMore(b, (*[]int)(s)) }

// oneOrMore leaves s as it is for null, as encoding/json asks.
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

// MarshalYAML returns the fields as an object, in their order.
func (fs Fields) MarshalYAML() (any, error) {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := range fs {
		key, value := new(yaml.Node), new(yaml.Node)
		key.SetString(fs[i].Name)
		if err := value.Encode(&fs[i].Field); err != nil {
			return nil, err
		}
		n.Content = append(n.Content, key, value)
	}
	return n, nil
}

// load reads a node into v; unknown keys are errors, as they are in the rest of a spec.
func load(n *yaml.Node, v any) error { return n.Load(v, yaml.WithKnownFields()) }

// at is an error at the place of a node.
func at(n *yaml.Node, format string, args ...any) error {
	return &yaml.LoadErrors{Errors: []*yaml.LoadError{{
		Message: fmt.Sprintf(format, args...), Mark: yaml.Mark{Line: n.Line, Column: n.Column},
	}}}
}

func scalarText(n *yaml.Node) (string, bool) {
	n = followAlias(n)
	return n.Value, n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null"
}

func followAlias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias // the target of an alias is none itself
	}
	return n
}

// maxNodes bounds what aliases may make of the fields of a rule. Without it, ten
// lines can say more than any memory holds.
const maxNodes = 20_000

// maxNodeDepth is more than fields of fields may need: each level has two nodes.
const maxNodeDepth = 100

// expanded counts the nodes of a tree with its aliases followed, up to a little
// over maxNodes; one that contains itself has more. known has the counts of
// those done, -1 for those under way.
func expanded(n *yaml.Node, known map[*yaml.Node]int, depth int) int {
	n = followAlias(n)
	if count, ok := known[n]; ok {
		if count < 0 {
			return maxNodes + 1
		}
		return count
	}
	if depth > maxNodeDepth {
		return maxNodes + 1
	}
	known[n] = -1
	count := 1
	for _, c := range n.Content {
		if count += expanded(c, known, depth+1); count > maxNodes {
			count = maxNodes + 1
			break
		}
	}
	known[n] = count
	return count
}
