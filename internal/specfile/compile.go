package specfile

import (
	"seine/internal/extract"
	"seine/pkg/messages"
)

// compile reports what is wrong with selectors and expressions of rules.
func compile(spec *messages.Spec) error {
	_, err := extract.Compile(spec)
	return err
}
