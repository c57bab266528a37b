package format

import (
	"slices"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// KindResult is the kind of the records of the stream RESULTS.
const KindResult = "result"

// ColumnsOf returns the columns of the records of a kind, according to the spec of their crawl: the
// page's fields or the fields of the rules, with their declared types. Rules of one kind share
// their columns.
func ColumnsOf(spec *crawlspec.Spec, kind string) []Column {
	var columns []Column
	if kind == messages.KindPage {
		columns = pageColumns(spec.Page.Fields)
		if spec.MayRender() {
			columns = Union(columns, rendered)
		}
	}
	if kind == messages.KindGone || kind == messages.KindVisit {
		columns = append(Envelope(), Column{Name: "status", Type: Integer}, Column{Name: "class"}, Column{Name: "location"}, Column{Name: "same", Type: Bool})
	}
	for _, r := range spec.Rules() {
		if r.Kind == kind {
			columns = Union(columns, ruleColumns(r))
		}
	}
	if len(columns) == 0 {
		return Envelope()
	}
	return columns
}

// ruleColumns returns the columns of the records of one rule.
func ruleColumns(r *crawlspec.RecordRule) []Column {
	fields, all := fieldColumns(r.Fields), Envelope()
	if slices.ContainsFunc(fields, func(c Column) bool { return c.Name == crawlspec.FieldMetadata }) {
		all = all[:len(all)-1] // the rule's field replaces the seed's metadata
	}
	return append(all, fields...)
}

// Envelope returns the columns that every record has besides its fields, except records of pages:
// see extract.Envelope.
func Envelope() []Column {
	return []Column{
		{Name: "kind"}, {Name: "url"}, {Name: "fetched_at", Type: Time}, {Name: "crawl"}, {Name: "visit"},
		{Name: "run", Type: Integer}, {Name: "duplicate_of"}, {Name: "key"}, {Name: crawlspec.FieldMetadata, Type: JSON},
	}
}

// pageTypes are the types of the page fields that are not texts.
var pageTypes = map[string]Type{
	"status": Integer, "fetch_ms": Integer, "bytes": Integer, "depth": Integer, "run": Integer, "noindex": Bool, "pages": Integer,
	"fetched_at": Time, "published": Time, "modified": Time,
	"headings": JSON, "json_ld": JSON, "microdata": JSON, "rdfa": JSON, "open_graph": JSON, "twitter": JSON, "links": JSON,
	"metadata": JSON,
}

// defaultPage are the fields of a messages.Record.
var defaultPage = []string{
	"url", "status", "content_type", "title", "description", "canonical", "language", "charset", "noindex", "text",
	"fetched_at", "depth", "referrer", "crawl", "visit", "run", "duplicate_of", "metadata", "pages", "no_text",
}

// rendered are the columns that pages of a crawl that may render have, even if the spec does not
// list them.
var rendered = []Column{{Name: "cut"}, {Name: "render_problems", Type: JSON}}

// truncated is the column that lists the truncated fields.
var truncated = Column{Name: "truncated", List: true}

// cuttable are the fields that may be truncated.
var cuttable = []string{"text", "main", "markdown"}

func pageColumns(fields []string) []Column {
	if len(fields) == 0 {
		fields = defaultPage
	}
	columns := make([]Column, len(fields))
	for i, name := range fields {
		columns[i] = Column{Name: name, Type: pageTypes[name]}
	}
	if slices.ContainsFunc(fields, func(name string) bool { return slices.Contains(cuttable, name) }) {
		columns = append(columns, truncated)
	}
	return columns
}

func fieldColumns(fields crawlspec.Fields) []Column {
	columns := make([]Column, len(fields))
	for i := range fields {
		columns[i] = fieldColumn(&fields[i].Field)
		columns[i].Name = fields[i].Name
	}
	return columns
}

// fieldColumn returns the column of a field. Results of jq can have any type unless the field
// declares one.
func fieldColumn(f *crawlspec.Field) Column {
	c := Column{List: f.All || f.Split != ""}
	switch f.As {
	case "number":
		c.Type = Number
	case "integer":
		c.Type = Integer
	case "boolean":
		c.Type = Bool
	case "date":
		c.Type = Time
	case "json":
		c.Type = JSON
	case "":
		if f.JQ != "" || f.JSONLD != "" {
			c.Type = JSON
		}
	}
	if c.Type == JSON || f.Map != nil || len(f.Fields) > 0 {
		return Column{Type: JSON}
	}
	return c
}

// ResultColumns returns the columns of a messages.Result.
func ResultColumns() []Column {
	return []Column{
		{Name: "v", Type: Integer}, {Name: "crawl"}, {Name: "rev", Type: Integer}, {Name: "url"}, {Name: "visit"},
		{Name: "attempt", Type: Integer}, {Name: "run", Type: Integer}, {Name: "depth", Type: Integer}, {Name: "redirects", Type: Integer}, {Name: "referrer"}, {Name: "class"}, {Name: "status", Type: Integer},
		{Name: "error"}, {Name: "detail"}, {Name: "location"}, {Name: "content_type"}, {Name: "started", Type: Time}, {Name: "timings", Type: JSON},
		{Name: "bytes_wire", Type: Integer}, {Name: "bytes_body", Type: Integer}, {Name: "ip"}, {Name: "protocol"},
		{Name: "retry_after_ms", Type: Integer}, {Name: "crawl_delay_ms", Type: Integer}, {Name: "age_ms", Type: Integer}, {Name: "etag"},
		{Name: "last_modified"}, {Name: "digest"}, {Name: "rendered"}, {Name: "requisites", Type: Integer}, {Name: "actions"}, {Name: "not_rendered"}, {Name: "render_problems", Type: JSON}, {Name: "gone_record", Type: Bool}, {Name: "fetcher"},
	}
}
