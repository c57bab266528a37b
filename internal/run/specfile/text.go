package specfile

import (
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"

	"seine/internal/base/yamljson"
	"seine/pkg/crawlspec"
)

// Text returns a spec as YAML that Load accepts, with all keys, in the order of the schema. It
// escapes control characters.
func Text(spec *crawlspec.Spec) ([]byte, error) { return textOf(spec.Encode()) }

// TextWithoutDefaults is like Text but omits keys that have their defaults.
func TextWithoutDefaults(spec *crawlspec.Spec) ([]byte, error) {
	unchanged := crawlspec.Default()
	if spec.Render != nil { // the mode is never a default
		unchanged.Render = new(crawlspec.DefaultRender())
		unchanged.Render.Mode = ""
	}
	doc, err := nodeOf(spec.Encode())
	if err != nil {
		return nil, err
	}
	defaults, err := nodeOf(unchanged.Encode())
	if err != nil {
		return nil, err
	}
	shortenSelectors(doc)
	if removeShared(doc.Content[0], defaults.Content[0]); len(doc.Content[0].Content) == 0 {
		return nil, nil
	}
	return yamljson.Print(doc)
}

// removeShared removes the members of n that other has with the same values.
func removeShared(n, other *yaml.Node) {
	var kept []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		_, have, rest := member(other, key.Value)
		if have != nil && rest == "" {
			if isSame(value, have) {
				continue
			}
			if value.Kind == yaml.MappingNode && have.Kind == yaml.MappingNode {
				removeShared(value, have)
			}
		}
		kept = append(kept, key, value)
	}
	n.Content = kept
}

// shortenSelectors replaces objects with only a CSS selector by its short form. It skips members of
// lists, which may be follow rules.
func shortenSelectors(n *yaml.Node) {
	for i, value := range n.Content {
		shortenSelectors(value)
		if n.Kind == yaml.MappingNode && i%2 == 1 && value.Kind == yaml.MappingNode && len(value.Content) == 2 && value.Content[0].Value == "css" {
			n.Content[i] = value.Content[1]
		}
	}
}

func isSame(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && slices.EqualFunc(a.Content, b.Content, isSame)
}

// SourcesText returns sources in the form of Text, with the keys that they set.
func SourcesText(sources []crawlspec.HostRule) ([]byte, error) {
	encoded, err := json.Marshal(sources)
	if err != nil {
		return nil, fmt.Errorf("print sources: %w", err)
	}
	return textOf(encoded)
}

func textOf(encoded []byte) ([]byte, error) {
	doc, err := nodeOf(encoded)
	if err != nil {
		return nil, err
	}
	return yamljson.Print(doc)
}

func nodeOf(encoded []byte) (*yaml.Node, error) {
	doc := new(yaml.Node)
	if err := yaml.Load(encoded, doc); err != nil {
		return nil, fmt.Errorf("print spec: %w", err)
	}
	return doc, nil
}
