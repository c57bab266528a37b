package replay

import (
	"errors"
	"fmt"

	"seine/pkg/messages"
)

// Validate returns an error for the first option that is invalid or conflicts with another. It
// makes the host canonical.
func (o *Options) Validate() error {
	pages := o.Stream == messages.StreamPages
	switch {
	case !pages && o.Writer == nil:
		return errors.New("--into-records is for pages that are parsed again: stored records are in RECORDS already")
	case !pages && o.Spec != nil:
		return errors.New("--spec is for pages that are parsed again: stored records are written as they are")
	case o.Generation != "" && o.Writer != nil:
		return errors.New("--generation is for --into-records")
	case o.Beyond && (o.Writer != nil || o.Spec == nil):
		return errors.New("--beyond-spec is for --into-records with --spec")
	}
	if o.Generation != "" {
		if err := messages.CheckGeneration(o.Generation); err != nil {
			return fmt.Errorf("--generation: %w", err)
		}
	}
	if o.Writer != nil {
		if err := o.Writer.Validate(); err != nil {
			return err
		}
	}
	if err := o.Choice.Validate(); err != nil || !pages {
		return err
	}
	return o.Parser.Validate()
}
