package crawlspec

import (
	"bytes"

	"seine/internal/testing/yamltest"
)

// parseSpec reads a spec in YAML. It is a simple form of package specfile, which has better error
// messages.
func parseSpec(text []byte) (*Spec, error) {
	s := Default()
	if len(bytes.TrimSpace(text)) > 0 {
		if err := yamltest.Unmarshal(text, &s); err != nil {
			return nil, err
		}
	}
	return &s, s.Validate()
}
