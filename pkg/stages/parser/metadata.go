package parser

import (
	"seine/internal/base/jsontext"
	"seine/pkg/messages"
)

// metadata is that of the seed which the page is of, as its records have it: what the spec
// masks is masked there, too.
func (r *parsedPage) metadata() messages.Metadata {
	m := r.page.Metadata
	if len(m) == 0 || !r.plan.mask.of(messages.FieldMetadata) {
		return m
	}
	var masked messages.Metadata
	_ = jsontext.Unmarshal(jsontext.MapStrings(m.AppendJSON(nil), r.plan.mask.masker.Text), &masked) // an object of texts, as it was
	return masked
}

// encodedMetadata is metadata as JSON, nil if there is none.
func (r *parsedPage) encodedMetadata() []byte {
	if len(r.page.Metadata) == 0 {
		return nil
	}
	return r.metadata().AppendJSON(nil)
}
