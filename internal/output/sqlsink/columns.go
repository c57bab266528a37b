package sqlsink

import (
	"strings"

	"seine/pkg/messages"
)

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

// Columns of the tables, in the order of the values that a Batch returns for a row.
var (
	EventColumns = []string{
		"feed", "id", "commit_id", "crawl", "kind", "item", "url", "visit", "fetched_at", "status", "class", "attempt", "error",
		"detail", "bytes_wire", "bytes_body", "dns_ms", "connect_ms", "tls_ms", "first_byte_ms", "total_ms", "data",
	}
	PageColumns = []string{
		"crawl", "id", "url", "host", "status", "content_type", "title", "description", "canonical", "language", "charset",
		"noindex", "text", "fetched_at", "depth", "referrer", "visit", "round", "duplicate_of", "record", "commit_id",
	}
	RecordColumns = []string{
		"crawl", "kind", "id", "key", "place", "url", "fetched_at", "visit", "round", "duplicate_of", "data", "commit_id", "host",
	}
)

// SetExcluded is what an upsert of those columns sets: all but the first ones, which are the key.
func SetExcluded(columns []string, key int) string {
	columns = columns[key:]
	return "(" + strings.Join(columns, ", ") + ") = (excluded." + strings.Join(columns, ", excluded.") + ")"
}

// EventValues returns the values of EventColumns. The data are of a result, which no other table has, and of a record
// of a rule, whose row has the latest alone; not of a page, whose text is long.
func (b *Batch) EventValues(d Dialect, r *Row) []any {
	o := r.Outcome()
	data := r.Data
	if r.Table == Pages {
		data = nil
	}
	return []any{
		b.Feed, r.Identity[:], b.ID, r.Crawl, r.Kind, r.Item[:], orNil(r.URL), orNil(r.Visit), d.Moment(r.FetchedAt), r.Status,
		o.Class, o.Attempt, o.Error, o.Detail, o.BytesWire, o.BytesBody,
		o.Timings.DNS, o.Timings.Connect, o.Timings.TLS, o.Timings.FirstByte, o.Timings.Total, d.JSON(data),
	}
}

// PageValues returns the values of PageColumns.
func (b *Batch) PageValues(d Dialect, r *Row) []any {
	p := r.Page()
	return []any{
		r.Crawl, r.Item[:], orNil(r.URL), orNil(r.Host), r.Status, p.ContentType, p.Title, p.Description, p.Canonical,
		p.Language, p.Charset, p.NoIndex, p.Text, d.Moment(r.FetchedAt), p.Depth, p.Referrer, orNil(r.Visit), r.Round,
		orNil(r.DuplicateOf), d.JSON(r.Data), b.ID,
	}
}

// RecordValues returns the values of RecordColumns.
func (b *Batch) RecordValues(d Dialect, r *Row) []any {
	var place *int32
	if r.Ordinal >= 0 {
		place = new(int32(r.Ordinal))
	}
	return []any{
		r.Crawl, r.Kind, r.Item[:], orNil(r.Key), place, orNil(r.URL), d.Moment(r.FetchedAt), orNil(r.Visit),
		r.Round, orNil(r.DuplicateOf), d.JSON(r.Data), b.ID, orNil(r.Host),
	}
}

// orNil returns nil for what is not told.
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
