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
	"time"

	"seine/internal/output"
	"seine/internal/output/format"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Views is how a database implements the views of the kinds of records.
type Views interface {
	// Has reports whether a view or an index of that name exists.
	Has(ctx context.Context, q Querier, name string) (bool, error)
	// Replace creates a view of a query and replaces an existing view of that name.
	Replace(ctx context.Context, tx *sql.Tx, view, query string) error
	// Value is an expression for the value of a field in a JSON column, or NULL if the record has
	// no value of the field's type.
	Value(column string, f format.Column) string
	// Changed is an expression for the list of members that differ between two JSON columns, except
	// the names in without.
	Changed(before, now string, without []string) string
	// JoinOne joins the only row of a query, which may refer to earlier tables, or NULLs.
	JoinOne(as, query string) string
}

// base is a table from which views select.
type base struct {
	table   string
	json    string   // column with the complete record
	lead    []string // first columns of a view
	columns []string // columns used for fields of the same name
}

// checks are columns that each item has.
var checks = []string{"run", "first_seen", "changed_at", "checked_at"}

var (
	pagesBase = base{
		table: "pages", json: "record", lead: append([]string{"crawl", "url", "host", "fetched_at"}, checks...),
		columns: []string{
			"status", "content_type", "title", "description", "canonical", "language", "charset", "noindex", "text", "depth",
			"referrer", "visit", "duplicate_of",
		},
	}
	recordsBase = base{
		table: "records", json: "data", lead: append([]string{"crawl", "key", "url", "host", "fetched_at", "visit", "duplicate_of"}, checks...),
	}
)

// maxFields bounds the columns of a view: databases allow some 1,600 at most.
const maxFields = 1000

func baseOf(kind string) *base {
	if kind == messages.KindPage {
		return &pagesBase
	}
	return &recordsBase
}

// fieldsOf omits the kind, which the view's name has, and reserved fields that the view begins
// with. A field of a rule may have the name of another lead column, such as host.
func fieldsOf(kind string, columns []format.Column) []format.Column {
	lead := baseOf(kind).lead
	return slices.DeleteFunc(slices.Clone(columns), func(c format.Column) bool {
		return c.Name == "kind" || slices.Contains(lead, c.Name) && slices.Contains(crawlspec.ReservedFields, c.Name)
	})
}

// columnNames gives each column of a view a unique name: SQLite ignores case, and PostgreSQL uses
// only the first maxName bytes. The first column keeps its name, the next one gets _2, and so on.
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

// selected returns the select list of a view: its lead columns and its fields. Lead columns that
// are not columns of the table are expressions such as "a.b AS c". It calls value for each field.
func selected(lead []string, fields []format.Column, value func(format.Column) string) string {
	all, names := slices.Clone(lead), make(columnNames)
	for _, column := range lead {
		names.of(column[strings.LastIndexAny(column, " .")+1:])
	}
	for _, f := range fields {
		all = append(all, value(f)+" AS "+Quoted(names.of(f.Name)))
	}
	return strings.Join(all, ", ")
}

// current selects the existing items of a kind.
func current(v Views, kind string, fields []format.Column) string {
	b := baseOf(kind)
	q := "SELECT " + selected(b.lead, fields, func(f format.Column) string {
		if slices.Contains(b.columns, f.Name) {
			return Quoted(f.Name)
		}
		return v.Value(b.json, f)
	}) + " FROM " + b.table + " WHERE gone_at IS NULL"
	if b == &recordsBase {
		q += " AND kind = " + Literal(kind)
	}
	return q
}

// compared has the expressions that compare an item's state at a visit, event e, with its previous
// state, event p.
type compared struct {
	from, change, changed, was string
	counts                     string // condition for rows that count: an unchanged item has one row per run
	differing                  string // condition for rows that are not "same"
}

// comparison compares the items of a kind, or those of all rules if kind is "".
func comparison(v Views, kind string) compared {
	differs := `e.found AND p.found AND p.digest <> e.digest`
	before := `SELECT q.* FROM sightings q WHERE q.item = e.item AND q.crawl = e.crawl AND q.kind = e.kind
		AND q.fetched_at < e.fetched_at ORDER BY q.fetched_at DESC LIMIT 1`
	c := compared{
		from:      `sightings e ` + v.JoinOne("p", before),
		change:    `CASE WHEN NOT e.found THEN 'gone' WHEN p.found IS NULL OR NOT p.found THEN 'new' WHEN p.digest = e.digest THEN 'same' ELSE 'changed' END`,
		changed:   `CASE WHEN ` + differs + ` THEN ` + v.Changed("p.data", "e.data", ofVisit(kind)) + ` END`,
		was:       `CASE WHEN ` + differs + ` THEN p.data END`,
		differing: `(NOT e.found OR p.found IS NULL OR NOT p.found OR p.digest <> e.digest)`,
	}
	c.counts = `(e.found OR p.found) AND (p.run <> e.run OR ` + c.differing + `)`
	return c
}

// changes selects what each visit found of the items of a kind: new, changed, same or gone.
func changes(v Views, kind string, fields []format.Column) (all, differing string) {
	b, c := baseOf(kind), comparison(v, kind)
	key, item := "r.key", "r.kind = e.kind AND "
	if b == &pagesBase {
		key, item = "CAST(NULL AS text) AS key", ""
	}
	lead := []string{
		"e.crawl", key, "e.url", "r.host", "e.run", "e.fetched_at", c.change + " AS change", c.changed + " AS changed", c.was + " AS was",
	}
	all = "SELECT " + selected(lead, fields, func(f format.Column) string { return v.Value("e.data", f) }) + " FROM " + c.from +
		" JOIN " + b.table + " r ON r.crawl = e.crawl AND " + item + "r.id = e.item WHERE e.kind = " + Literal(kind) + " AND " + c.counts
	return all, all + " AND " + c.differing
}

// viewsOf returns the views of a kind: their names and queries.
func viewsOf(v Views, kind string, fields []format.Column) [][2]string {
	all, differing := changes(v, kind, fields)
	return [][2]string{
		{ViewOf(kind), current(v, kind, fields)}, {viewName("changes_", kind), all}, {viewName("history_", kind), differing},
	}
}

// maxIndexed is the number of indexed fields of a kind: each index costs time for each record.
const maxIndexed = 4

// indexes returns the indexes of a kind: their names and definitions. It has one for each numeric
// field, since the views read JSON.
func indexes(v Views, kind string, all []field) map[string]string {
	found := make(map[string]string)
	for _, f := range all {
		if (f.Type == format.Integer || f.Type == format.Number) && !f.List && len(found) < maxIndexed {
			found[viewName("values_", kind+"."+f.Name+"."+typeName(f.Column))] = ` ON records ((` + v.Value("data", f.Column) +
				`)) WHERE gone_at IS NULL AND kind = ` + Literal(kind)
		}
	}
	return found
}

// maxName is the longest name that PostgreSQL does not truncate.
const maxName = 63

// ViewOf returns the name of the view of the existing items of a kind.
func ViewOf(kind string) string { return viewName("records_", kind) }

func viewName(of, kind string) string {
	name := of + kind
	if len(name) > maxName {
		sum := sha256.Sum256([]byte(kind))
		name = name[:maxName-9] + "_" + hex.EncodeToString(sum[:4])
	}
	return name
}

// Quoted returns a name as an SQL identifier.
func Quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Literal returns a text as an SQL literal.
func Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Literals returns texts as a list of SQL literals.
func Literals(texts []string) string {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = Literal(t)
	}
	return strings.Join(all, ", ")
}

// listMark is the suffix of the type of a list field.
const listMark = "[]"

// typeName returns the type of a field from the table fields.
func typeName(f format.Column) string {
	if f.List {
		return f.Type.String() + listMark
	}
	return f.Type.String()
}

// field is a row of the table fields: a column of the views of a kind, and the spec revision that
// gave it its type.
type field struct {
	format.Column
	rev int64
}

// newField returns the field of a row. A type of a newer build is treated as JSON.
func newField(name, typeName string, rev int64) field {
	f := field{format.Column{Name: name, Type: format.JSON}, rev}
	element, list := strings.CutSuffix(typeName, listMark)
	for t := format.Text; t < format.JSON; t++ {
		if t.String() == element {
			f.Type, f.List = t, list
		}
	}
	return f
}

// merged adds the columns of a revision to fields. If a column has two types, the newest revision's
// counts.
func merged(have []field, columns []format.Column, rev int64) []field {
	all := slices.Clone(have)
	for _, c := range columns {
		i := slices.IndexFunc(all, func(f field) bool { return f.Name == c.Name })
		switch {
		case i < 0 && len(all) < maxFields:
			all = append(all, field{c, rev})
		case i >= 0 && all[i].Column != c && rev > all[i].rev:
			all[i] = field{c, rev}
		}
	}
	return all
}

// described is what this process made of the views of a kind, for one crawl.
type described struct {
	columns []format.Column
	again   time.Time // of a view that cannot be made now: time of the next attempt
	waits   string    // the view that cannot be made now, with the reason
}

// retryViews is the wait before failed views are retried: a reader may hold a lock.
const retryViews = time.Minute

// describeChunks updates the views for new columns of chunks. A failed view does not delay records.
func (s *Sink) describeChunks(ctx context.Context, chunks []*Chunk) {
	for _, c := range chunks {
		columns, err := c.columns()
		if err == nil && len(columns) > 0 {
			err = s.describeKind(ctx, c, columns)
		}
		if err != nil && !errors.Is(err, output.ErrAway) { // the commit reports it
			s.log.Warn("the view of a kind of record differs from the spec; its records are still written",
				"view", ViewOf(c.group.Kind), "error", err)
		}
	}
}

// describeKind adds columns to a view once.
func (s *Sink) describeKind(ctx context.Context, c *Chunk, columns []format.Column) error {
	s.viewsLock.Lock()
	defer s.viewsLock.Unlock()
	of := c.group.Crawl + "/" + c.group.Kind
	if known, is := s.views[of]; is && (time.Now().Before(known.again) || slices.Equal(columns, known.columns)) {
		return nil
	}
	if s.views == nil {
		s.views = make(map[string]described)
	}
	err := s.tables.describe(ctx, c.group.Kind, columns, int64(c.rev))
	if s.views[of] = (described{columns: columns}); err != nil {
		s.views[of] = described{again: time.Now().Add(retryViews), waits: ViewOf(c.group.Kind) + ": " + err.Error()}
	}
	return err
}

// Waiting returns the views that cannot be created now, with the reasons, or "".
func (s *Sink) Waiting() string {
	s.viewsLock.Lock()
	defer s.viewsLock.Unlock()
	var all []string
	for _, v := range s.views {
		if v.waits != "" {
			all = append(all, v.waits)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "; ")
}

// forgetViews makes the next records of each kind check their view again.
func (s *Sink) forgetViews() {
	s.viewsLock.Lock()
	defer s.viewsLock.Unlock()
	clear(s.views)
}
