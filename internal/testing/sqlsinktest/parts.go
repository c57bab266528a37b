package sqlsinktest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"seine/internal/output"
	"seine/internal/output/format"
	"seine/internal/output/sqlsink"
	"seine/internal/testing/outputtest"
	"seine/pkg/messages"
)

// testParts checks records without a key: a page has the records of its last visit and of that
// visit's last replay, whatever the order of the visits. Records with a key may move to another
// page, and stay until a replay repeats their visit.
func testParts(t *testing.T, p Fixture) {
	s := Enter(t, p.open(t, sqlsink.FromRecords), Created)
	next := uint64(1)
	put := func(all ...*format.Record) {
		t.Helper()
		check(t, s.CommitAs(sqlsink.Format{}, Created, next, all...))
		next += uint64(len(all))
	}
	const url = "https://a.example/parts"
	part := func(kind string, round, place int, key, generation string) *format.Record {
		visit := messages.Visit{URL: messages.HashURL(url), Round: uint64(round)}
		line := fmt.Sprintf(`{"kind":%q,"url":%q,"fetched_at":%q,"crawl":"a","visit":%q,"key":%q,"generation":%q}`,
			kind, url, Created.Add(time.Duration(round)*time.Hour).Format(time.RFC3339Nano), visit.String(), key, generation)
		id := fmt.Sprintf("%s.%s.%d", messages.VisitID("a", visit), kind, place)
		if generation != "" {
			id = messages.InGeneration(id, generation)
		}
		return raw(id, kind, line)
	}
	has := func(want string) {
		t.Helper()
		p.wants(t, `SELECT count(*) || ' of visit ' || coalesce(max(round), 0) FROM records WHERE kind = 'part' AND gone_at IS NULL`, want)
		p.wants(t, `SELECT count(*) FROM records WHERE kind = 'keyed'`, "1")
	}
	put(part("part", 1, 0, "", ""), part("part", 1, 1, "", ""), part("part", 1, 2, "", ""), part("keyed", 1, 0, "k", ""))
	has("3 of visit 1")
	put(part("part", 2, 0, "", ""), part("part", 2, 1, "", ""))
	has("2 of visit 2")
	mute := Page(url, 2, Created, "T") // its selected fields omit the time
	mute.Data, mute.Stored = []byte(`{"url":"`+url+`"}`), Created.Add(2*time.Hour+time.Second)
	put(mute)
	has("2 of visit 2")
	put(part("part", 1, 7, "", ""))
	has("2 of visit 2")
	put(part("other", 2, 0, "", "g1"), part("part", 2, 0, "", "g1"))
	has("1 of visit 2")
	put(part("other", 2, 0, "", "g2")) // the new rules produce no such part
	has("0 of visit 0")
	put(part("part", 2, 0, "", "g3"))
	has("1 of visit 2")
	put(Page(url, 3, Created.Add(3*time.Hour), "T"))
	has("0 of visit 0")
	p.wants(t, `SELECT count(*) FROM events WHERE kind = 'part' AND data ->> 'url' = '`+url+`' AND since IS NULL`, "8")
	verify := func() {
		t.Helper()
		log, err := p.Read("default")
		check(t, err)
		o := output.Output{Log: log}
		check(t, errors.Join(outputtest.Verify(o), o.Close()))
	}
	verify()

	// A replay that corrects a key leaves no row with the wrong one.
	named := func(want string) {
		t.Helper()
		all := "0"
		for i, key := range []string{"wrong", "same", "mended", "earlier", "elsewhere", "deep"} {
			all += fmt.Sprintf(` + %d * (SELECT count(*) FROM records WHERE kind = 'named' AND key = '%s')`, 1<<i, key)
		}
		p.wants(t, "SELECT "+all, want)
	}
	elsewhere := part("named", 2, 3, "elsewhere", "")
	elsewhere.Data = []byte(strings.Replace(string(elsewhere.Data), "/parts", "/other", 1))
	deep := part("named", 2, 4, "deep", "")
	deep.Data = []byte(`{"x":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "," + string(deep.Data[1:]))
	put(part("named", 1, 0, "earlier", ""), part("named", 2, 0, "wrong", ""), part("named", 2, 1, "same", ""), elsewhere, deep)
	named("59") // all but the corrected one
	put(part("named", 2, 0, "mended", "g1"), part("named", 2, 1, "same", "g1"))
	named("62") // all but the wrong one
	put(part("named", 1, 0, "mended earlier", "g2"), part("named", 2, 0, "mended", "g2"), part("named", 2, 1, "other", "g2"))
	named("52") // of both visits
	put(part("named", 4, 0, "wrong", ""), part("named", 4, 0, "mended", "g3"))
	named("52") // in one batch
	verify()
}
