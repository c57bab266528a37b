package parser

import "seine/pkg/messages"

// metadata returns the metadata of the page's seed for its records, masked as the spec says.
func (r *parsedPage) metadata() messages.Metadata {
	return r.plan.mask.Metadata(r.page.Metadata)
}

// encodedMetadata returns the metadata as JSON, nil if there is none.
func (r *parsedPage) encodedMetadata() []byte {
	if len(r.page.Metadata) == 0 {
		return nil
	}
	return r.metadata().AppendJSON(nil)
}
