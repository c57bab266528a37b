package sqlsink

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"time"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
)

// Choice selects the items to read. The zero value selects all.
type Choice struct {
	Crawl, Kind string
	Run         *int64 // of changes: only those of this run
	LastRun     bool   // of changes: only those of the newest run of each crawl
}

// EachItem calls do with the latest record of each existing item, as JSON: for records with a key
// one for each key, otherwise those of the last visit of their page.
func (s *Sink) EachItem(c Choice, do func(crawl string, line []byte) error) error {
	return s.lines(do, `SELECT crawl, line FROM (
		SELECT crawl, 'page' AS kind, CAST(record AS text) AS line, fetched_at, url, '' AS key, 0 AS place FROM pages WHERE gone_at IS NULL
		UNION ALL SELECT crawl, kind, CAST(data AS text), fetched_at, url, key, place FROM records WHERE gone_at IS NULL
		) AS items WHERE ($1 = '' OR crawl = $1) AND (kind = $2 OR $2 = '' AND kind NOT IN ('gone', 'visit')) ORDER BY fetched_at, url, kind, key, place`,
		c.Crawl, c.Kind)
}

// change is a row of a changes view.
type change struct {
	crawl, kind, what string
	url               sql.NullString
	run               int64
	at                any
	names, was, now   []byte
}

// EachChange calls do with what each visit found of each item, as JSON, by time. The query is that
// of the views, for all kinds.
func (s *Sink) EachChange(c Choice, do func(crawl string, line []byte) error) error {
	ctx, cancel := within(readTime)
	defer cancel()
	for _, of := range [][2]string{{messages.KindPage, "= 'page'"}, {"", "<> 'page'"}} {
		what := comparison(s.tables.Dialect, of[0])
		err := s.tables.each(ctx, func(rows *sql.Rows) error {
			var r change
			if err := rows.Scan(&r.crawl, &r.kind, &r.url, &r.run, &r.at, &r.what, &r.names, &r.was, &r.now); err != nil {
				return err
			}
			return do(r.crawl, r.line())
		}, `SELECT e.crawl, e.kind, e.url, e.run, e.fetched_at, `+what.change+`, CAST(`+what.changed+` AS text), CAST(`+what.was+` AS text), CAST(e.data AS text)
			FROM `+what.from+` WHERE `+what.counts+` AND e.kind `+of[1]+` AND e.kind NOT IN ('gone', 'visit')
			AND ($1 = '' OR e.crawl = $1) AND ($2 = '' OR e.kind = $2) AND ($3 < 0 OR e.run = $3)
			AND ($4 = 0 OR (e.crawl, e.run) IN (SELECT crawl, max(run) FROM events WHERE found IS NOT NULL GROUP BY crawl)) ORDER BY e.fetched_at, e.url, e.commit_id`,
			c.Crawl, c.Kind, runOf(c.Run), map[bool]int{true: 1}[c.LastRun])
		if err != nil {
			return err
		}
	}
	return nil
}

func runOf(run *int64) int64 {
	if run == nil {
		return -1
	}
	return *run
}

// line returns the change as JSON: the item, the changed fields, their former values, and the
// record.
func (r *change) line() []byte {
	o := jsontext.Object{}
	o.Text("kind", r.kind)
	o.Text("change", r.what)
	o.Text("crawl", r.crawl)
	o.Text("url", r.url.String)
	o.Int("run", r.run)
	o.Time("fetched_at", timeOf(r.at))
	if r.names != nil {
		var names []string
		_ = jsontext.Unmarshal(r.names, &names) // made by the query
		o.Texts("changed", names)
		o.Raw("was", membersOf(r.was, names))
	}
	if r.now != nil {
		o.Raw("record", bytes.ReplaceAll(r.now, []byte("\n"), []byte(" ")))
	}
	return o.End()
}

// membersOf returns an object with some members of another.
func membersOf(text []byte, names []string) []byte {
	var all map[string]json.RawMessage
	_ = jsontext.Unmarshal(text, &all) // stays empty if text is not an object
	var o jsontext.Object
	for _, name := range names {
		if value, has := all[name]; has {
			o.Raw(name, value)
		}
	}
	return o.End()
}

// timeOf returns a time as scanned from a database. SQLite returns text.
func timeOf(at any) time.Time {
	t, _ := at.(time.Time)
	if text, is := at.(string); is {
		t, _ = time.Parse(time.RFC3339Nano, text) // the table has no other layout
	}
	return t.UTC()
}
