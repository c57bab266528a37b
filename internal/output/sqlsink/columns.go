package sqlsink

import "seine/pkg/messages"

// Page are the columns of a page beside those that every row has; nil is what its
// record does not say.
type Page struct {
	ContentType *string `json:"content_type"`
	Title       *string `json:"title"`
	Description *string `json:"description"`
	Canonical   *string `json:"canonical"`
	Language    *string `json:"language"`
	Charset     *string `json:"charset"`
	NoIndex     *bool   `json:"noindex"`
	Text        *string `json:"text"`
	Depth       *int32  `json:"depth"`
	Referrer    *string `json:"referrer"`
}

// Page reads the columns of a page.
func (r *Row) Page() *Page {
	var p Page
	_ = decode(r.Data, &p) // it was read before
	for _, s := range []*string{p.ContentType, p.Title, p.Description, p.Canonical, p.Language, p.Charset, p.Text, p.Referrer} {
		if s != nil {
			*s = clean(*s)
		}
	}
	return &p
}

// Outcome are the columns of the result of a request, which its event has.
type Outcome struct {
	Attempt   *int32  `json:"attempt"`
	Class     *string `json:"class"`
	Error     *string `json:"error"`
	Detail    *string `json:"detail"`
	BytesWire *int64  `json:"bytes_wire"`
	BytesBody *int64  `json:"bytes_body"`
	Timings   struct {
		DNS       *int64 `json:"dns_ms"`
		Connect   *int64 `json:"connect_ms"`
		TLS       *int64 `json:"tls_ms"`
		FirstByte *int64 `json:"first_byte_ms"`
		Total     *int64 `json:"total_ms"`
	} `json:"timings"`
}

// Outcome reads the columns of a result; those of a record are all nil.
func (r *Row) Outcome() *Outcome {
	var o Outcome
	if r.Table != Results {
		return &o
	}
	_ = decode(r.Data, &o) // it was read before
	for _, s := range []*string{o.Class, o.Error, o.Detail} {
		if s != nil {
			*s = clean(*s)
		}
	}
	return &o
}

// Own returns the text that an event keeps: of a result, which no other table has, and of a
// record of a rule, whose row has the latest alone. Of a page, whose text is long, it is nil.
func (r *Row) Own() []byte {
	if r.Table == Pages {
		return nil
	}
	return r.Data
}

// KeyOrNil and its like return nil for what is not told.
func (r *Row) KeyOrNil() *string { return orNil(r.Key) }

// URLOrNil is as KeyOrNil.
func (r *Row) URLOrNil() *string { return orNil(r.URL) }

// HostOrNil is as KeyOrNil.
func (r *Row) HostOrNil() *string { return orNil(r.Host) }

// VisitOrNil is as KeyOrNil.
func (r *Row) VisitOrNil() *string { return orNil(r.Visit) }

// DuplicateOrNil is as KeyOrNil.
func (r *Row) DuplicateOrNil() *string { return orNil(r.DuplicateOf) }

// PlaceOrNil is as KeyOrNil.
func (r *Row) PlaceOrNil() *int32 {
	if r.Ordinal < 0 {
		return nil
	}
	n := int32(r.Ordinal)
	return &n
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// TableOf names the table that has the records of a kind, or the view of it.
func TableOf(kind string) string {
	if kind == messages.KindPage {
		return "pages"
	}
	return ViewOf(kind)
}
