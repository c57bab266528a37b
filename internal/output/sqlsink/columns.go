package sqlsink

import (
	"strings"

	"seine/pkg/messages"
)

// Page has the columns of a page besides those that every row has. Fields that its record lacks are
// nil.
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

// Page decodes the columns of a page.
func (r *Row) Page() *Page {
	var p Page
	_ = decode(r.Data, &p) // newRow has decoded it before
	for _, s := range []*string{p.ContentType, p.Title, p.Description, p.Canonical, p.Language, p.Charset, p.Text, p.Referrer} {
		if s != nil {
			*s = clean(*s)
		}
	}
	return &p
}

// Outcome has the columns of the result of a request, which are in its event.
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

// Outcome decodes the columns of a result. They are all nil for a record.
func (r *Row) Outcome() *Outcome {
	var o Outcome
	if r.Table != Results {
		return &o
	}
	_ = decode(r.Data, &o) // newRow has decoded it before
	for _, s := range []*string{o.Class, o.Error, o.Detail} {
		if s != nil {
			*s = clean(*s)
		}
	}
	return &o
}

// Columns of the tables, in the order of the values that the methods of Batch return.
var (
	EventColumns = []string{
		"feed", "id", "commit_id", "crawl", "kind", "item", "url", "visit", "fetched_at", "status", "class", "attempt", "error",
		"detail", "bytes_wire", "bytes_body", "dns_ms", "connect_ms", "tls_ms", "first_byte_ms", "total_ms", "data",
		"run", "digest", "found",
	}
	PageColumns = []string{
		"crawl", "id", "first_seen", "changed_at", "url", "host", "status", "content_type", "title", "description", "canonical",
		"language", "charset", "noindex", "text", "fetched_at", "depth", "referrer", "visit", "round", "duplicate_of",
		"run", "checked_at", "gone_at", "digest", "record", "commit_id",
	}
	RecordColumns = []string{
		"crawl", "kind", "id", "first_seen", "changed_at", "key", "place", "url", "host", "fetched_at", "visit", "round",
		"duplicate_of", "run", "checked_at", "gone_at", "digest", "data", "commit_id",
	}
)

// Upsert returns the conflict clause of an INSERT into pages or records: it updates an existing row
// that is not newer. table is the name of the table in the statement, key the number of columns of
// its primary key.
func Upsert(table string, columns []string, key int) string {
	set := columns[key+2:]
	return `ON CONFLICT (` + strings.Join(columns[:key], ", ") + `) DO UPDATE SET
		changed_at = CASE WHEN ` + table + `.digest = excluded.digest AND ` + table + `.gone_at IS NULL THEN ` + table + `.changed_at ELSE excluded.changed_at END,
		(` + strings.Join(set, ", ") + `) = (excluded.` + strings.Join(set, ", excluded.") + `)
		WHERE (` + table + `.fetched_at, ` + table + `.round) <= (excluded.fetched_at, excluded.round)`
}

// EventValues returns the values of EventColumns.
func (b *Batch) EventValues(d Dialect, r *Row) []any {
	o := r.Outcome()
	values := []any{
		b.Feed, r.Identity[:], b.ID, r.Crawl, r.Kind, r.Item[:], orNil(r.URL), orNil(r.Visit), d.Moment(r.FetchedAt), r.Status,
		o.Class, o.Attempt, o.Error, o.Detail, o.BytesWire, o.BytesBody,
		o.Timings.DNS, o.Timings.Connect, o.Timings.TLS, o.Timings.FirstByte, o.Timings.Total, d.JSON(r.Event),
	}
	if r.Table == Results {
		return append(values, r.Run, nil, nil)
	}
	return append(values, r.Run, r.Digest[:], true)
}

// PageValues returns the values of PageColumns.
func (b *Batch) PageValues(d Dialect, r *Row) []any {
	p, at := r.Page(), d.Moment(r.FetchedAt)
	return []any{
		r.Crawl, r.Item[:], at, at, orNil(r.URL), orNil(r.Host), r.Status, p.ContentType, p.Title, p.Description, p.Canonical,
		p.Language, p.Charset, p.NoIndex, p.Text, at, p.Depth, p.Referrer, orNil(r.Visit), r.Round,
		orNil(r.DuplicateOf), r.Run, at, nil, r.Digest[:], d.JSON(r.Data), b.ID,
	}
}

// RecordValues returns the values of RecordColumns.
func (b *Batch) RecordValues(d Dialect, r *Row) []any {
	var place *int32
	if r.Ordinal >= 0 {
		place = new(int32(r.Ordinal))
	}
	at := d.Moment(r.FetchedAt)
	return []any{
		r.Crawl, r.Kind, r.Item[:], at, at, orNil(r.Key), place, orNil(r.URL), orNil(r.Host), at, orNil(r.Visit), r.Round,
		orNil(r.DuplicateOf), r.Run, at, nil, r.Digest[:], d.JSON(r.Data), b.ID,
	}
}

// orNil returns nil for an empty text.
func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// TableOf returns the table or view with the records of a kind.
func TableOf(kind string) string {
	if kind == messages.KindPage {
		return "pages"
	}
	return ViewOf(kind)
}
