package sqlsink

import (
	"encoding/json"
	"time"
)

// Run is a row of the table runs: the current figures of one run of a crawl.
type Run struct {
	Crawl   string
	Run     int64 // when it was due, in Unix seconds; the first is 0, or when an earlier crawl of this name was deleted
	Started time.Time
	Ended   time.Time // zero while it runs
	// Requests are counted by class, Records by kind.
	Requests, Records                       map[string]int64
	Pages, New, Changed, Same, Gone, Failed int64
	BytesWire, BytesBody                    int64
}

// counts returns counts by name as a JSON column.
func counts(m map[string]int64) string {
	if m == nil {
		return "{}"
	}
	b, _ := json.Marshal(m) // it cannot fail
	return string(b)
}

// setRun inserts or replaces the row of a run. The placeholders are the columns in the order of the
// table.
const setRun = `INSERT INTO runs (crawl, run, started, ended, requests, records, pages, new, changed, same, gone, failed, bytes_wire, bytes_body)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT (crawl, run) DO UPDATE SET
	(started, ended, requests, records, pages, new, changed, same, gone, failed, bytes_wire, bytes_body) = (excluded.started,
	excluded.ended, excluded.requests, excluded.records, excluded.pages, excluded.new, excluded.changed, excluded.same,
	excluded.gone, excluded.failed, excluded.bytes_wire, excluded.bytes_body)`

// args returns the arguments of setRun, with times converted by moment; a missing time is nil.
func (r *Run) args(moment func(time.Time) any) []any {
	var ended any
	if !r.Ended.IsZero() {
		ended = moment(r.Ended)
	}
	return []any{
		r.Crawl, r.Run, moment(r.Started), ended, counts(r.Requests), counts(r.Records),
		r.Pages, r.New, r.Changed, r.Same, r.Gone, r.Failed, r.BytesWire, r.BytesBody,
	}
}
