package sqlsink

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"seine/internal/output"
	"seine/internal/output/format"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Views is how a database has the views of the kinds of records.
type Views interface {
	// Has reports whether there is a view of that name.
	Has(ctx context.Context, tx *sql.Tx, view string) (bool, error)
	// Replace makes a view of a query, in the place of the one that has the name.
	Replace(ctx context.Context, tx *sql.Tx, view, query string) error
	// Value is an expression for the value of a field in a column of JSON, NULL where the
	// record has none of the field's type.
	Value(column string, f format.Column) string
}

// base is a table that views select from.
type base struct {
	table   string
	json    string   // its column with all of a record
	lead    []string // columns that a view begins with
	columns []string // columns that fields of the same name are taken from
}

var (
	pagesBase = base{
		table: "pages", json: "record", lead: []string{"crawl", "url", "host", "fetched_at"},
		columns: []string{
			"status", "content_type", "title", "description", "canonical", "language", "charset", "noindex", "text", "depth",
			"referrer", "visit", "duplicate_of",
		},
	}
	recordsBase = base{
		table: "records", json: "data", lead: []string{"crawl", "key", "url", "host", "fetched_at", "visit", "duplicate_of"},
	}
)

// goneAt is the column of a view that says when the page of a record was found gone, if it
// was since the record was made. It is of no record, and has a separate type.
var goneAt = format.Column{Name: crawlspec.FieldGoneAt, Type: goneType}

const (
	goneType     = format.JSON + 1
	goneTypeName = "gone"
)

// ColumnsOf returns the columns of the view of a kind of record, as the spec of a crawl
// says.
func ColumnsOf(spec *crawlspec.Spec, kind string) []format.Column {
	columns := format.ColumnsOf(spec, kind)
	if spec.Gone == crawlspec.WhenGoneRecord && kind != messages.KindGone {
		columns = append(columns, goneAt)
	}
	return columns
}

// whenGone is an expression for goneAt of the rows of a table.
func whenGone(table string) string {
	return `(SELECT max(gone.fetched_at) FROM records gone WHERE gone.kind = ` + Literal(messages.KindGone) + ` AND gone.crawl = ` + table +
		`.crawl AND gone.url = ` + table + `.url AND gone.fetched_at > ` + table + `.fetched_at)`
}

// maxFields bounds a view: tables of databases have some 1,600 columns at most.
const maxFields = 1000

func baseOf(kind string) *base {
	if kind == messages.KindPage {
		return &pagesBase
	}
	return &recordsBase
}

// fieldsOf leaves out the kind, which names the view, and what every record has that the
// view begins with. A field of a rule may have the name of another such column, as host.
func fieldsOf(kind string, columns []format.Column) []format.Column {
	lead := baseOf(kind).lead
	return slices.DeleteFunc(slices.Clone(columns), func(c format.Column) bool {
		return c.Name == "kind" || slices.Contains(lead, c.Name) && slices.Contains(crawlspec.ReservedFields, c.Name)
	})
}

// columnNames gives each column of a view a name that a database can tell from the others:
// SQLite goes by no capitals, PostgreSQL by no more than maxName bytes. The first keeps its
// name, the next gets _2, and so on.
type columnNames map[string]bool

func (c columnNames) of(name string) string {
	base := name[:min(len(name), maxName)]
	free := base
	for n := 2; c[strings.ToLower(free)]; n++ {
		end := "_" + strconv.Itoa(n)
		free = base[:min(len(base), maxName-len(end))] + end
	}
	c[strings.ToLower(free)] = true
	return free
}

// query selects the records of a kind.
func query(v Views, kind string, fields []format.Column) string {
	b := baseOf(kind)
	selected, names := slices.Clone(b.lead), make(columnNames)
	for _, name := range b.lead {
		names.of(name)
	}
	for _, f := range fields {
		var value string
		switch {
		case f == goneAt:
			value = whenGone(b.table)
		case slices.Contains(b.columns, f.Name):
			value = Quoted(f.Name)
		default:
			value = v.Value(b.json, f)
		}
		selected = append(selected, value+" AS "+Quoted(names.of(f.Name)))
	}
	q := "SELECT " + strings.Join(selected, ", ") + " FROM " + b.table
	if b == &recordsBase {
		q += " WHERE kind = " + Literal(kind)
	}
	return q
}

// maxName is the length of the longest name that PostgreSQL does not cut.
const maxName = 63

// ViewOf names the view of a kind.
func ViewOf(kind string) string {
	name := "records_" + kind
	if len(name) > maxName {
		sum := sha256.Sum256([]byte(kind))
		name = name[:maxName-9] + "_" + hex.EncodeToString(sum[:4])
	}
	return name
}

// Quoted returns a name as SQL has it.
func Quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Literal returns a text as SQL has it.
func Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// listMark ends the type of a field that is a list.
const listMark = "[]"

// typeName is the type of a field as the table fields has it.
func typeName(f format.Column) string {
	switch {
	case f.Type == goneType:
		return goneTypeName
	case f.List:
		return f.Type.String() + listMark
	}
	return f.Type.String()
}

// newField returns the field of a row of the table fields. A type that only a newer build
// knows is read as JSON.
func newField(name, typeName string) format.Column {
	if typeName == goneTypeName {
		return format.Column{Name: name, Type: goneType}
	}
	f := format.Column{Name: name, Type: format.JSON}
	element, list := strings.CutSuffix(typeName, listMark)
	for t := format.Text; t < format.JSON; t++ {
		if t.String() == element {
			f.Type, f.List = t, list
		}
	}
	return f
}

// describe makes the views of what chunks have, if they are news. That a view cannot be
// made holds up no record.
func (s *Sink) describe(ctx context.Context, chunks []*Chunk) {
	for _, c := range chunks {
		columns, err := c.columns()
		if err == nil && len(columns) > 0 {
			err = s.describeKind(ctx, c.group.Kind, columns)
		}
		if err != nil && !errors.Is(err, output.ErrAway) { // of which the commit tells
			s.log.Warn("the view of a kind of record is not as the spec has it; its records are written all the same",
				"view", ViewOf(c.group.Kind), "error", err)
		}
	}
}

// describeKind adds columns to a view once.
func (s *Sink) describeKind(ctx context.Context, kind string, columns []format.Column) error {
	s.viewsLock.Lock()
	defer s.viewsLock.Unlock()
	known := s.views[kind]
	all := format.Union(slices.Clone(known), columns)
	if slices.Equal(all, known) {
		return nil
	}
	if s.views == nil {
		s.views = make(map[string][]format.Column)
	}
	s.views[kind] = all
	return s.db.Describe(ctx, kind, columns)
}

// forgetViews has all views looked at again with the next records of their kinds.
func (s *Sink) forgetViews() {
	s.viewsLock.Lock()
	defer s.viewsLock.Unlock()
	clear(s.views)
}
