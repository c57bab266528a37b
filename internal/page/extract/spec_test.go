package extract

import (
	"seine/internal/testing/yamltest"
	"seine/pkg/crawlspec"
)

// parseSpec parses a spec in YAML. Package specfile, which does it for users, imports this package.
func parseSpec(text []byte) (*crawlspec.Spec, error) {
	s := crawlspec.Default()
	if len(text) > 0 {
		if err := yamltest.Unmarshal(text, &s); err != nil {
			return nil, err
		}
	}
	return &s, s.Validate()
}
