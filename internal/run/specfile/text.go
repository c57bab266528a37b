package specfile

import (
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v4"

	"seine/internal/base/safeprint"
	"seine/pkg/crawlspec"
)

// Text returns a spec as YAML that Load reads, with all keys, in the order of the schema. It has no text that a terminal obeys.
func Text(spec *crawlspec.Spec) ([]byte, error) { return textOf(spec.Encode()) }

// SourcesText returns sources of a spec as Text does, with the keys that they set.
func SourcesText(sources []crawlspec.HostRule) ([]byte, error) {
	encoded, err := json.Marshal(sources)
	if err != nil {
		return nil, fmt.Errorf("print sources: %w", err)
	}
	return textOf(encoded)
}

func textOf(encoded []byte) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Load(encoded, &doc); err != nil {
		return nil, fmt.Errorf("print spec: %w", err)
	}
	inBlocks(&doc)
	text, err := yaml.Dump(&doc, yaml.WithIndent(2))
	if err == nil && safeprint.Lines(string(text)) != string(text) {
		text, err = yaml.Dump(&doc, yaml.WithIndent(2), yaml.WithUnicode(false))
	}
	if err != nil {
		return nil, fmt.Errorf("print spec: %w", err)
	}
	return text, nil
}

// inBlocks removes the braces and quotes of JSON. The library quotes the texts that YAML reads as something else.
func inBlocks(n *yaml.Node) {
	n.Style = 0
	for _, c := range n.Content {
		inBlocks(c)
	}
}
