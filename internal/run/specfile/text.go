package specfile

import (
	"fmt"

	"go.yaml.in/yaml/v4"

	"seine/pkg/crawlspec"
)

// Text returns a spec as YAML that Load reads, with all keys, in the order of the schema.
func Text(spec *crawlspec.Spec) ([]byte, error) {
	var doc yaml.Node
	err := yaml.Load(spec.Encode(), &doc)
	if err == nil {
		inBlocks(&doc)
		var text []byte
		if text, err = yaml.Dump(&doc, yaml.WithIndent(2)); err == nil {
			return text, nil
		}
	}
	return nil, fmt.Errorf("print spec: %w", err)
}

// inBlocks removes the braces and quotes of JSON. The library quotes the texts that YAML reads as something else.
func inBlocks(n *yaml.Node) {
	n.Style = 0
	for _, c := range n.Content {
		inBlocks(c)
	}
}
