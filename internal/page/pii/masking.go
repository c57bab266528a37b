package pii

import (
	"encoding/json"
	"slices"

	"seine/internal/base/jsontext"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Masking determines which personal data a spec masks, and in which fields.
type Masking struct {
	masker *Masker
	fields []string
}

// NewMasking returns the masking of a spec, or nil if nothing is masked.
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

// Of reports whether a field is masked. "*" stands for every field except those that identify the
// page.
func (m *Masking) Of(field string) bool {
	if m == nil {
		return false
	}
	return slices.Contains(m.fields, field) || slices.Contains(m.fields, "*") && !slices.Contains(identities, field)
}

// identities are the fields that identify the page of a record.
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

// Metadata masks the seed metadata of a record.
func (m *Masking) Metadata(of messages.Metadata) messages.Metadata {
	if len(of) == 0 || !m.Of(crawlspec.FieldMetadata) {
		return of
	}
	var masked messages.Metadata
	_ = jsontext.Unmarshal(m.JSON(crawlspec.FieldMetadata, of.AppendJSON(nil)), &masked) // an object of texts, as before
	return masked
}

// Letter masks the JSON or text in a dead letter. It masks all texts, since it is unknown which
// field a reason quotes.
func (m *Masking) Letter(text string) string {
	switch {
	case m == nil:
		return text
	case json.Valid([]byte(text)):
		return string(jsontext.MapStrings([]byte(text), m.masker.Text))
	}
	return m.masker.Text(text)
}
