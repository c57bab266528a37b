package messages

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"seine/internal/base/jsontext"
)

// Metadata comes with a seed and is copied to its records: names and texts that have no meaning for
// the crawl. As a replacement, nil keeps the old metadata, and an empty one removes it.
type Metadata map[string]string

// Limits of the metadata of a seed, which travels with every request for the seed and is stored
// with it.
const (
	MaxMetadata      = 16   // names
	MaxMetadataName  = 64   // bytes of a name
	MaxMetadataBytes = 1024 // bytes of all names and texts
)

// UnmarshalJSON decodes an object of texts. It refuses numbers: only the author knows whether 1e3
// or 0.10 should keep its spelling.
func (m *Metadata) UnmarshalJSON(b []byte) error {
	var members map[string]json.RawMessage
	if err := jsontext.Unmarshal(b, &members); err != nil {
		return fmt.Errorf("metadata: must be an object with names and texts, as in {\"customer\": \"17\"}, not %s", Clip(string(b)))
	}
	if members == nil {
		*m = nil
		return nil
	}
	all := make(Metadata, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var text string
		if value := members[name]; len(value) == 0 || value[0] != '"' || jsontext.Unmarshal(value, &text) != nil {
			return fmt.Errorf("metadata: %q is %s: must be a text, in quotes", Clip(name), Clip(string(value)))
		}
		all[name] = text
	}
	*m = all
	return nil
}

// Check returns an error if the metadata of a seed is invalid.
func (m Metadata) Check(inherit bool) error {
	if inherit && len(m) == 0 {
		return errors.New("inherit: needs metadata to inherit")
	}
	if len(m) > MaxMetadata {
		return fmt.Errorf("metadata: %d names: at most %d", len(m), MaxMetadata)
	}
	size := 0
	for _, name := range slices.Sorted(maps.Keys(m)) {
		switch {
		case name == "" || len(name) > MaxMetadataName:
			return fmt.Errorf("metadata: the name %q has %d bytes: must be from 1 to %d", Clip(name), len(name), MaxMetadataName)
		case strings.ContainsFunc(name, unicode.IsControl):
			return fmt.Errorf("metadata: the name %q has control characters: must be printable", Clip(name))
		}
		size += len(name) + len(m[name])
	}
	if size > MaxMetadataBytes {
		return fmt.Errorf("metadata: its names and texts have %d bytes: at most %d in all", size, MaxMetadataBytes)
	}
	return nil
}

// AppendJSON appends the metadata as an object, sorted by name.
func (m Metadata) AppendJSON(b []byte) []byte {
	o := jsontext.Object{B: b}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		o.Text(name, m[name])
	}
	return o.End()
}
