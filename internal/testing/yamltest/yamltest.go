// Package yamltest decodes YAML in tests.
package yamltest

import (
	"go.yaml.in/yaml/v4"

	"seine/internal/base/jsontext"
	"seine/internal/base/yamljson"
)

// Unmarshal decodes YAML into v, a pointer. Unknown members are errors. The expansion of aliases is
// not limited.
func Unmarshal(text []byte, v any) error {
	var doc yaml.Node
	if err := yaml.Load(text, &doc); err != nil {
		return err
	}
	root := &doc
	if doc.Kind == yaml.DocumentNode {
		root = doc.Content[0]
	}
	converted, err := yamljson.Convert(root, v)
	if err != nil {
		return err
	}
	return jsontext.UnmarshalStrict(converted, v)
}
