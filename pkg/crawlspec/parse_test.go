package crawlspec

import (
	"bytes"

	"go.yaml.in/yaml/v4"
)

// parseSpec reads a spec in YAML, as package specfile does, which says better what
// is wrong.
func parseSpec(text []byte) (*Spec, error) {
	s := Default()
	if len(bytes.TrimSpace(text)) > 0 {
		if err := yaml.Load(text, &s, yaml.WithKnownFields()); err != nil {
			return nil, err
		}
	}
	return &s, s.Validate()
}
