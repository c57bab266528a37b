package pii

import (
	"encoding/json"
	"slices"

	"seine/internal/base/jsontext"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Masking is which personal data a spec masks, and where.
type Masking struct {
	masker *Masker
	fields []string
}

// NewMasking returns nil if nothing is masked.
func NewMasking(m *crawlspec.Mask) *Masking {
	if len(m.Fields) == 0 {
		return nil
	}
	kinds := Kinds()
	if len(m.Kinds) > 0 {
		kinds = nil
		for _, k := range m.Kinds {
			kinds = append(kinds, Kind(k))
		}
	}
	return &Masking{masker: New(kinds), fields: m.Fields}
}

// Of reports whether a field is masked. "*" is every field but those that say
// which page it is.
func (m *Masking) Of(field string) bool {
	if m == nil {
		return false
	}
	return slices.Contains(m.fields, field) || slices.Contains(m.fields, "*") && !slices.Contains(identities, field)
}

// identities are the fields that say which page a record is of.
var identities = []string{
	"kind", "url", "canonical", "referrer", "crawl", "visit", "fetched_at", "digest", "simhash", "duplicate_of", "links",
}

// Field masks the text of a field.
func (m *Masking) Field(name, text string) string {
	if !m.Of(name) {
		return text
	}
	return m.masker.Text(text)
}

// JSON masks the texts in a field's JSON.
func (m *Masking) JSON(name string, value []byte) []byte {
	if !m.Of(name) {
		return value
	}
	return jsontext.MapStrings(value, m.masker.Text)
}

// Metadata masks that of a seed, as records have it.
func (m *Masking) Metadata(of messages.Metadata) messages.Metadata {
	if len(of) == 0 || !m.Of(crawlspec.FieldMetadata) {
		return of
	}
	var masked messages.Metadata
	_ = jsontext.Unmarshal(m.JSON(crawlspec.FieldMetadata, of.AppendJSON(nil)), &masked) // an object of texts, as it was
	return masked
}

// Letter masks what a dead letter says of a record, JSON or a text. Which field a
// reason names is unknown, and a spec that masks one of them does not want it
// here, so all are.
func (m *Masking) Letter(text string) string {
	switch {
	case m == nil:
		return text
	case json.Valid([]byte(text)):
		return string(jsontext.MapStrings([]byte(text), m.masker.Text))
	}
	return m.masker.Text(text)
}
