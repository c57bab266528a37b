package specfile

import (
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v4"

	"seine/internal/base/yamljson"
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
	return yamljson.Print(&doc)
}
