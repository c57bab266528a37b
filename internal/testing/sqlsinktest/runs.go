package sqlsinktest

import (
	"testing"
	"time"

	"seine/internal/output/sqlsink"
)

// testRuns checks that a run has one row with the last stored figures, whether or not a writer
// created the tables.
func testRuns(t *testing.T, p Fixture) {
	at := time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)
	first := sqlsink.Run{
		Crawl: "c", Started: at, Ended: at.Add(time.Minute), Requests: map[string]int64{"ok": 9, "gone": 1}, Records: map[string]int64{"product": 7},
		Pages: 9, New: 9, Failed: 1, BytesWire: 1 << 40, BytesBody: 1 << 41,
	}
	second := sqlsink.Run{Crawl: "c", Run: at.Unix(), Started: at.Add(time.Hour), Pages: 1, Same: 1}
	check(t, p.Runs(first, second))
	p.wants(t, `SELECT count(*) FROM runs WHERE crawl = 'c' AND ended IS NULL AND pages = 1`, "1")
	p.open(t, sqlsink.FromRecords)
	second.Ended, second.Pages, second.Changed, second.Gone = at.Add(2*time.Hour), 5, 3, 2
	check(t, p.Runs(second))
	p.wants(t, `SELECT count(*) FROM runs`, "2")
	p.wants(t, `SELECT count(*) FROM runs WHERE run > 0 AND ended > started AND pages = 5 AND same = 1 AND changed = 3 AND gone = 2 AND new = 0`, "1")
	p.wants(t, `SELECT count(*) FROM runs WHERE run = 0 AND bytes_wire = 1099511627776 AND bytes_body = 2199023255552 AND failed = 1`, "1")
	p.wants(t, `SELECT records ->> 'product' FROM runs WHERE run = 0`, "7")
	p.wants(t, `SELECT requests ->> 'gone' FROM runs WHERE run = 0`, "1")
}
