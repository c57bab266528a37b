package messages

import (
	"fmt"
	"strings"
	"time"

	"seine/internal/base/lazyregexp"
)

// HeaderGeneration names the generation of a record that was extracted again from a stored page and
// sent to RECORDS beside the earlier ones. The record also has it in its field FieldGeneration.
const (
	HeaderGeneration = "Seine-Generation"
	FieldGeneration  = "generation"
)

var generationName = lazyregexp.New(`^[a-z0-9][a-z0-9_-]{0,30}$`)

// CheckGeneration returns an error if name is not a valid name of a generation.
func CheckGeneration(name string) error {
	if !generationName().MatchString(name) {
		return fmt.Errorf("generation %q: must be 1 to 31 of a-z, 0-9, '-' and '_', and start with a letter or digit", name)
	}
	return nil
}

// NewGeneration returns a name for a generation that begins at t.
func NewGeneration(t time.Time) string {
	return strings.ToLower(t.UTC().Format("g20060102T150405Z"))
}

// InGeneration returns the identity of a record in another generation: it differs from that of the
// first generation, and is the same in every repeat.
func InGeneration(id, generation string) string { return id + "@" + generation }

// FirstGeneration returns the identity of a record in the first generation.
func FirstGeneration(id string) string {
	first, _, _ := strings.Cut(id, "@")
	return first
}
