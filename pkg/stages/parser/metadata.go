package parser

import "seine/pkg/messages"

// metadata is that of the seed which the page is of, as its records have it: what the spec
// masks is masked there, too.
func (r *parsedPage) metadata() messages.Metadata {
	return r.plan.mask.Metadata(r.page.Metadata)
}

// encodedMetadata is metadata as JSON, nil if there is none.
func (r *parsedPage) encodedMetadata() []byte {
	if len(r.page.Metadata) == 0 {
		return nil
	}
	return r.metadata().AppendJSON(nil)
}
