package yamljson

import (
	"fmt"

	"go.yaml.in/yaml/v4"

	"seine/internal/base/safeprint"
)

// Print returns what was read of JSON as YAML in blocks. It has no text that a terminal obeys.
func Print(doc *yaml.Node) ([]byte, error) {
	inBlocks(doc)
	text, err := yaml.Dump(doc, yaml.WithIndent(2), yaml.WithLineWidth(-1))
	if err == nil && safeprint.Lines(string(text)) != string(text) {
		text, err = yaml.Dump(doc, yaml.WithIndent(2), yaml.WithLineWidth(-1), yaml.WithUnicode(false))
	}
	if err != nil {
		return nil, fmt.Errorf("print YAML: %w", err)
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
