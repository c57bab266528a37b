// Package sqlsinktest has the tests that every database destination must pass.
package sqlsinktest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/output"
	"seine/internal/output/format"
	"seine/internal/output/sqlsink"
	"seine/internal/testing/outputtest"
	"seine/pkg/messages"
)

// Fixture is a database for one test.
type Fixture struct {
	Open func(name, from string) (*sqlsink.Sink, error)
	Read func(name string) (output.Log, error)
	Runs func(runs ...sqlsink.Run) error
	// Ask returns the only value of a query as text.
	Ask func(query string) string
	// Exec runs a statement.
	Exec func(statement string)
	// List is a format that wraps a query: it returns the texts in its column line as a JSON list.
	List string
	// Real means that numbers are doubles, so 2 is printed as 2.0.
	Real bool
}

// Created is the creation time of the tests' stream.
var Created = time.Date(2026, 11, 21, 1, 2, 3, 456789123, time.UTC)

// Run runs the tests, each in a new database.
func Run(t *testing.T, place func(t *testing.T) Fixture) {
	for name, test := range map[string]func(*testing.T, Fixture){
		"latest": testLatest, "records": testRecords, "results": testResults, "strange": testStrange, "taken": testTaken,
		"repeat": testRepeat, "writers": testWriters, "verify": testVerify, "log": testLog, "stages": testFields, "views": testViews, "gone": testGone, "changes": testChanges, "batched runs": testRunsOfABatch, "parts": testParts, "trouble": testViewsAfterTrouble, "runs": testRuns,
	} {
		t.Run(name, func(t *testing.T) { test(t, place(t)) })
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (p Fixture) wants(t testing.TB, query, want string) {
	t.Helper()
	if got := p.Ask(query); got != want {
		t.Errorf("%s: %q, want %q", query, got, want)
	}
}

// open opens the destination for the writer "default" until the end of the test.
func (p Fixture) open(t testing.TB, from string) *sqlsink.Sink {
	t.Helper()
	s, err := p.Open("default", from)
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	return s
}

// Stay is an open partition.
type Stay struct {
	output.Partition
	t    testing.TB
	life int
}

// Enter opens partition 3 of the stream with a creation time.
func Enter(t testing.TB, s output.Sink, created time.Time) *Stay {
	t.Helper()
	p, _, err := s.OpenPartition(3, created)
	check(t, err)
	return &Stay{Partition: p, t: t}
}

// Commit commits records that begin at sequence first.
func (s *Stay) Commit(created time.Time, first uint64, all ...*format.Record) error {
	s.t.Helper()
	return s.CommitAs(sqlsink.Format{}, created, first, all...)
}

// CommitAs commits records in chunks of format f.
func (s *Stay) CommitAs(f sqlsink.Format, created time.Time, first uint64, all ...*format.Record) error {
	s.t.Helper()
	c := &output.Commit{
		Partition: 3, Created: created, Incarnation: s.life, FirstSeq: first, LastSeq: first + uint64(max(len(all), 1)) - 1, Stored: created,
	}
	type group struct {
		output.Chunk
		enc format.Encoder
		n   int
	}
	groups := make(map[output.Group]*group)
	for _, r := range all {
		g := output.Group{Crawl: "a", Kind: r.Kind, Dir: "a/" + r.Kind}
		if groups[g] == nil {
			chunk, err := s.Create(c.Name(), g, sqlsink.Ext)
			check(s.t, err)
			enc, err := f.NewEncoder(chunk, g)
			check(s.t, err)
			groups[g] = &group{Chunk: chunk, enc: enc}
		}
		check(s.t, groups[g].enc.Append(r))
		groups[g].n++
		c.Visits = append(c.Visits, sqlsink.Identity(r.ID)...)
	}
	for _, g := range groups {
		check(s.t, g.enc.Close())
		f, err := g.Finish()
		check(s.t, err)
		f.Records = g.n
		c.Files = append(c.Files, f)
	}
	_, err := s.Partition.Commit(c)
	return err
}

// put commits records and fails the test on an error.
func (s *Stay) put(first uint64, all ...*format.Record) {
	s.t.Helper()
	check(s.t, s.Commit(Created, first, all...))
}

// Page returns the record of a page in one of its rounds.
func Page(url string, round uint64, at time.Time, title string) *format.Record {
	r := messages.Record{
		URL: url, Status: 200, Title: title, Text: "text", FetchedAt: at, Crawl: "a",
		Visit: messages.Visit{URL: messages.HashURL(url), Round: round}, Depth: 2, NoIndex: true,
	}
	return &format.Record{
		ID: messages.VisitID("a", r.Visit), Kind: messages.KindPage, Stored: at, Header: nats.Header{}, Data: r.Encode(),
	}
}

// raw returns a record with the given data.
func raw(id, kind, data string) *format.Record {
	return &format.Record{ID: id, Kind: kind, Stored: Created, Header: nats.Header{}, Data: []byte(data)}
}

// The latest record of a page remains, whatever follows, and its host is counted.
func testLatest(t *testing.T, p Fixture) {
	s := Enter(t, p.open(t, sqlsink.FromRecords), Created)
	at := func(minutes int) time.Time { return Created.Add(time.Duration(minutes) * time.Minute) }
	const one, two = "https://a.example/1", "https://a.example/2"
	title := `SELECT title FROM pages WHERE url = '` + one + `'`
	s.put(1, Page(one, 2, at(10), "second"), Page(two, 1, at(0), "other"))
	p.wants(t, title, "second")
	s.put(3, Page(one, 1, at(5), "older"))
	p.wants(t, title, "second")
	s.put(4, Page(one, 3, at(10), "later round"))
	p.wants(t, title, "later round")
	s.put(5, Page(one, 4, at(20), "x"), Page(one, 6, at(40), "latest of a batch"), Page(one, 5, at(30), "y"))
	p.wants(t, title, "latest of a batch")
	// The frontier's state was lost: rounds restart at 1, but time advances.
	check(t, Enter(t, p.open(t, sqlsink.FromRecords), at(50)).Commit(at(50), 1, Page(one, 1, at(60), "begun anew")))
	p.wants(t, title, "begun anew")
	p.wants(t, `SELECT count(*) FROM events`, "8")
	p.wants(t, `SELECT pages FROM sources WHERE crawl = 'a' AND host = 'a.example'`, "2")
	p.wants(t, `SELECT count(*) FROM sources WHERE first_seen < last_seen`, "1")
}

// A record replaces the record with its key; without a key, the record in its place.
func testRecords(t *testing.T, p Fixture) {
	s := Enter(t, p.open(t, sqlsink.FromRecords), Created)
	visit := func(round uint64) string {
		return messages.VisitID("a", messages.Visit{URL: messages.HashURL("https://a.example/"), Round: round})
	}
	record := func(round uint64, n int, key string) *format.Record {
		at := Created.Add(time.Duration(round) * time.Hour).Format(time.RFC3339Nano)
		data := fmt.Sprintf(`{"kind":"product","url":"https://a.example/","fetched_at":%q,"crawl":"a","visit":%q,"key":%q,"round":%d}`,
			at, strings.TrimPrefix(visit(round), "a."), key, round)
		return raw(fmt.Sprintf("%s.product.%d", visit(round), n), "product", data)
	}
	s.put(1, record(1, 0, "k1"), record(1, 1, "k2"), record(1, 2, ""), record(1, 3, ""), raw("foreign.1", "product", `{"n":1}`))
	s.put(6, record(2, 0, "k2"), record(2, 1, ""), record(2, 2, ""), raw("foreign.2", "product", `{"n":2}`))
	p.wants(t, `SELECT count(*) FROM records WHERE key IS NOT NULL`, "2")
	p.wants(t, `SELECT round FROM records WHERE key = 'k2'`, "2")
	p.wants(t, `SELECT round FROM records WHERE key = 'k1'`, "1")
	p.wants(t, `SELECT count(*) FROM records WHERE key IS NULL AND url IS NOT NULL AND gone_at IS NULL AND kind = 'product'`, "2")
	p.wants(t, `SELECT round FROM records WHERE place = 2`, "2")
	p.wants(t, `SELECT count(*) FROM records WHERE place = 3 AND gone_at IS NULL`, "0")
	p.wants(t, `SELECT count(*) FROM records WHERE url IS NULL`, "2")
	p.wants(t, `SELECT count(*) FROM events WHERE since IS NULL`, "9")
	p.wants(t, `SELECT key FROM records WHERE gone_at IS NOT NULL AND key IS NOT NULL`, "k1")
	p.wants(t, `SELECT pages FROM sources WHERE host = 'a.example'`, "0")

	// Fields that differ from the envelope's only in capitals do not merge records.
	for n := range 10 {
		s.put(uint64(20+n), raw(fmt.Sprintf("%s.shop.%d", visit(1), n), "shop",
			fmt.Sprintf(`{"kind":"shop","url":"https://a.example/","key":"shop %d","Key":"same","URL":"u","Visit":"v"}`, n)))
	}
	p.wants(t, `SELECT count(*) FROM records WHERE kind = 'shop' AND url = 'https://a.example/'`, "10")
}

// Outcomes of requests are stored as events with all their fields.
func testResults(t *testing.T, p Fixture) {
	s := Enter(t, p.open(t, sqlsink.FromResults), Created)
	r := messages.Result{
		Crawl: "a", URL: "https://a.example/", Visit: messages.Visit{URL: messages.HashURL("https://a.example/"), Round: 1},
		Attempt: 2, Class: messages.Timeout, Detail: messages.DetailTotal, Error: "no answer", Started: Created, BytesWire: 5 << 30,
		Timings: messages.Timings{Connect: messages.Millis(7 * time.Millisecond), Total: messages.Millis(90 * time.Second)},
	}
	ok := r
	ok.Attempt, ok.Class, ok.Status = 3, messages.OK, 200
	s.put(1, raw(r.ID(), "result", string(r.Encode())), raw(ok.ID(), "result", string(ok.Encode())))
	p.wants(t, `SELECT class || ' ' || attempt || ' ' || error || ' ' || detail || ' ' || bytes_wire || ' ' || connect_ms || ' ' || total_ms
		FROM events WHERE status IS NULL`, "timeout 2 no answer total 5368709120 7 90000")
	p.wants(t, `SELECT class FROM events WHERE status = 200`, "ok")
	p.wants(t, `SELECT count(*) FROM pages`, "0")
	p.wants(t, `SELECT count(*) FROM records`, "0")
	p.readBack(t, 2)
}

// readBack reads all committed records and verifies them.
func (p Fixture) readBack(t testing.TB, want int) (lines []string) {
	t.Helper()
	log, err := p.Read("default")
	check(t, err)
	o := output.Output{Log: log}
	defer func() { check(t, o.Close()) }()
	check(t, outputtest.Verify(o))
	check(t, o.Commits(func(c *output.Commit) error {
		for _, f := range c.Files {
			in, err := o.Open(f)
			if err != nil {
				return err
			}
			text, err := io.ReadAll(in)
			if err != nil {
				return err
			}
			lines = append(lines, strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")...)
		}
		return nil
	}))
	if len(lines) != want {
		t.Errorf("%d lines, want %d: %q", len(lines), want, lines)
	}
	return lines
}

// The database accepts anything that a third-party parser sends: a refused record would block its
// partition for ever.
func testStrange(t *testing.T, p Fixture) {
	s := Enter(t, p.open(t, sqlsink.FromRecords), Created)
	long := strings.Repeat("x", 20_000)
	all := []string{
		`{"url":"https://a.example/nul","title":"a\u0000b","text":"\\u0000 \u0000\u0000"}`,
		`{"url":"https://a.example/half","title":"\ud800","text":"\udc00\ud83d\ude00 \ud83d\u0041"}`,
		"{\"url\":\"https://a.example/latin\",\"title\":\"caf\xe9\",\"\xff\":\"\\u00e9\"}",
		`{"url":"https://a.example/deep","x":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`,
		`{"url":"https://a.example/large","n":1e999999,"m":-1E-99999,"k":` + strings.Repeat("9", 200_000) + `}`,
		`{"url":7,"title":{},"status":"200","fetched_at":17,"visit":[],"noindex":"no","depth":1e40,"text":null}`,
		`{"url":"https://a.example/types","title":{},"status":99999999999,"fetched_at":"yesterday","visit":"x","depth":-2.5}`,
		`{"url":"https://a.example/` + long + `","key":"` + long + `"}`,
		`{"url":"https://a.example/year","fetched_at":"0000-01-01T00:00:00Z","visit":"` + strings.Repeat("0", 32) + `.4294967295"}`,
		`{"url":"https://a.example/year","fetched_at":"9999-12-31T23:59:59Z"}`,
		`{"url":"not a url","key":"\u0000"}`,
		`{"url":"http:"}`,
		`{"broken":`,
		``,
		"\x00",
		`{"URL":"https://a.example/case","a":1,"a":2}`,
		`[1]`, `null`, `"text"`,
	}
	var recs []*format.Record
	for _, kind := range []string{messages.KindPage, "product"} {
		for i, data := range all {
			recs = append(recs, raw(fmt.Sprintf("a.%s.%d", kind, i), kind, data))
		}
	}
	recs = append(recs, raw("a."+strings.Repeat("0", 32)+".7.product.99999999999999999999", "product", `{}`))
	recs = append(recs, raw("a."+strings.Repeat("0", 32)+".7.product.4294967296", "product", `{}`))
	s.put(1, recs...)
	p.wants(t, `SELECT count(*) FROM events WHERE since IS NULL`, fmt.Sprint(len(recs)))
	p.wants(t, `SELECT title FROM pages WHERE url = 'https://a.example/latin'`, "caf\uFFFD")
	p.wants(t, `SELECT title FROM pages WHERE url = 'https://a.example/nul'`, "a\uFFFDb")
	p.wants(t, `SELECT count(*) FROM pages WHERE url = 'https://a.example/types' AND status IS NULL AND title IS NULL AND depth IS NULL`, "1")
	p.readBack(t, len(recs)-1) // two have the URL …/year
}

// Two owners saw the same end of the log: a late commit of the frozen owner is refused and leaves
// nothing behind.
func testTaken(t *testing.T, p Fixture) {
	one, two := p.open(t, sqlsink.FromRecords), p.open(t, sqlsink.FromRecords)
	frozen, next := Enter(t, one, Created), Enter(t, two, Created)
	next.put(1, Page("https://a.example/1", 1, Created, "next"))
	err := frozen.Commit(Created, 1, Page("https://a.example/1", 1, Created, "frozen"), Page("https://a.example/2", 1, Created, "frozen"))
	if !errors.Is(err, output.ErrExists) {
		t.Errorf("the frozen owner: %v, want %v", err, output.ErrExists)
	}
	p.wants(t, `SELECT count(*) FROM pages`, "1")
	p.wants(t, `SELECT title FROM pages`, "next")
	p.wants(t, `SELECT pages FROM sources`, "1")
	_, refs, err := one.OpenPartition(3, Created)
	check(t, err)
	if len(refs) != 1 || refs[0].First != 1 {
		t.Errorf("the log has %v", refs)
	}
	again := Enter(t, one, Created)
	again.put(2, Page("https://a.example/2", 1, Created, "again"))
	p.readBack(t, 2)
}

// An identity is accepted once, even if the names of the commits differ.
func testRepeat(t *testing.T, p Fixture) {
	s := p.open(t, sqlsink.FromRecords)
	a := Enter(t, s, Created)
	a.put(1, Page("https://a.example/1", 1, Created, "one"))
	if err := a.Commit(Created, 7, Page("https://a.example/1", 1, Created, "one")); !errors.Is(err, output.ErrExists) {
		t.Errorf("the same record again: %v, want %v", err, output.ErrExists)
	}
	a.life = 1
	if err := a.Commit(Created, 1, Page("https://a.example/1", 1, Created, "one")); !errors.Is(err, output.ErrExists) {
		t.Errorf("the same record in the next life: %v, want %v", err, output.ErrExists)
	}
	p.wants(t, `SELECT count(*) FROM commits`, "1")
	// In a re-created stream it is another record of the same page.
	later := Created.Add(time.Nanosecond)
	b := Enter(t, s, later)
	b.life = 1 // streams created within one second share a name
	check(t, b.Commit(later, 1, Page("https://a.example/1", 1, Created, "one")))
	p.wants(t, `SELECT count(*) FROM events`, "2")
	p.wants(t, `SELECT count(*) FROM pages`, "1")
}

// Records and results have one writer each.
func testWriters(t *testing.T, p Fixture) {
	p.open(t, sqlsink.FromRecords)
	p.open(t, sqlsink.FromRecords)
	if _, err := p.Open("second", sqlsink.FromRecords); err == nil || !strings.Contains(err.Error(), `"default"`) {
		t.Errorf("a second writer of records: %v", err)
	}
	if _, err := p.Open("default", sqlsink.FromResults); err == nil || !strings.Contains(err.Error(), `"default"`) {
		t.Errorf("a writer of results by the same name: %v", err)
	}
	second, err := p.Open("second", sqlsink.FromResults)
	check(t, err)
	check(t, second.Close())
	log, err := p.Read("")
	check(t, err)
	check(t, output.Output{Log: log}.Close())
}

// Verification finds missing records.
func testVerify(t *testing.T, p Fixture) {
	sink := p.open(t, sqlsink.FromRecords)
	s := Enter(t, sink, Created)
	s.put(1, Page("https://a.example/1", 1, Created, "one"), Page("https://a.example/2", 1, Created, "two"), raw("x", "product", `{"a":1}`))
	p.readBack(t, 3)
	p.Exec(`DELETE FROM events WHERE url = 'https://a.example/1'`)
	p.Exec(`DELETE FROM pages WHERE url = 'https://a.example/2'`)
	p.Exec(`DELETE FROM records`)
	err := outputtest.Verify(output.Output{Log: sink})
	if err == nil || !strings.Contains(err.Error(), "1 of its 3 records have no event, and 2 events no row") {
		t.Errorf("verify: %v", err)
	}
	p.Exec(`UPDATE commits SET entry = '{}'`)
	if err := outputtest.Verify(output.Output{Log: sink}); !errors.Is(err, output.ErrCorrupt) {
		t.Errorf("a damaged entry: %v", err)
	}
}

// The log lists its entries in order, their stamps differ, and an empty commit moves the position.
func testLog(t *testing.T, p Fixture) {
	sink := p.open(t, sqlsink.FromRecords)
	s := Enter(t, sink, Created)
	s.put(9)
	s.put(10, Page("https://a.example/1", 1, Created, "one"))
	s.put(100, Page("https://a.example/2", 1, Created, "two"))
	_, refs, err := sink.OpenPartition(3, Created)
	check(t, err)
	if len(refs) != 3 || refs[0].First != 9 || refs[2].First != 100 || refs[0].Stamp == "" || refs[1].Stamp == refs[2].Stamp {
		t.Errorf("the log has %+v", refs)
	}
	if other, err := sink.List(2); err != nil || len(other) != 0 {
		t.Errorf("another partition has %v, %v", other, err)
	}
	lines := p.readBack(t, 2)
	var all strings.Builder
	check(t, sink.EachRecord(func(crawl string, line []byte) error {
		_, err := fmt.Fprintf(&all, "%s\n", line)
		if crawl != "a" {
			t.Errorf("a record of crawl %q", crawl)
		}
		return err
	}))
	if strings.Count(all.String(), "\n") != 2 || !strings.Contains(all.String(), strings.TrimSpace(lines[0])) {
		t.Errorf("printed %q, read %q", all.String(), lines)
	}
}

// Columns have the values of the record. If the record lacks its visit, the identity provides it.
func testFields(t *testing.T, p Fixture) {
	s := Enter(t, p.open(t, sqlsink.FromRecords), Created)
	v := messages.Visit{URL: messages.HashURL("https://a.example/f"), Round: 4}
	s.put(1, Page("https://a.example/1", 3, Created, "T"), raw(messages.VisitID("a", v), messages.KindPage, `{"title":"only","markdown":"# m"}`))
	p.wants(t, `SELECT status || ' ' || title || ' ' || text || ' ' || depth || ' ' || round || ' ' || host FROM pages
		WHERE url = 'https://a.example/1'`, "200 T text 2 3 a.example")
	p.wants(t, `SELECT title || ' ' || round FROM pages WHERE visit = '`+v.String()+`' AND url IS NULL`, "only 4")
	p.wants(t, `SELECT count(*) FROM events WHERE visit = '`+v.String()+`'`, "1")
}

// Each kind has a view with the columns and types of the spec. A changed spec changes the view;
// columns it drops remain. Queries do not fail on values of another type or on anything that a
// third-party parser sends.
func testViews(t *testing.T, p Fixture) {
	var columns []format.Column
	f := sqlsink.Format{Columns: func(string, string, uint64) ([]format.Column, error) { return columns, nil }}
	s := Enter(t, p.open(t, sqlsink.FromRecords), Created)
	next, rev := uint64(1), uint64(1)
	put := func(kind string, data ...string) {
		t.Helper()
		for _, line := range data {
			r := raw(fmt.Sprint("a.", next), kind, line)
			r.Header.Set(messages.HeaderSpec, fmt.Sprint(rev))
			check(t, s.CommitAs(f, Created, next, r))
			next++
		}
	}
	columns = append(format.Envelope(), format.Column{Name: "sku"}, format.Column{Name: "price", Type: format.Number},
		format.Column{Name: "stock", Type: format.Integer}, format.Column{Name: "new", Type: format.Bool},
		format.Column{Name: "seen", Type: format.Time}, format.Column{Name: "tags", List: true}, format.Column{Name: "SKU"},
		format.Column{Name: "host"})
	put("product",
		`{"key":"1","url":"https://a.example/1","sku":"it's","price":12.5,"stock":3,"new":true,"seen":"2026-02-03T06:05:06+02:00","tags":["a","b"]}`,
		`{"key":"2","url":"https://a.example/2","sku":7,"price":"x","stock":1.5,"new":"yes","seen":"2026-02-30","tags":"a"}`,
		`{"key":"3","url":"https://b.example/3","price":1e400,"stock":9223372036854775808,"seen":"2026-02-03"}`,
		`{"key":"4","seen":"now","SKU":"other","host":"db1"}`, `{"key":"4b","x":`+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+`}`, `[1]`, `"text"`)
	put("offer", `{"key":"1","sku":"of another kind"}`)
	const of = ` FROM records_product WHERE key = `
	p.wants(t, `SELECT count(*) FROM records_product`, "7")
	p.wants(t, `SELECT sku || ' ' || (price * 2) || ' ' || (stock + 1) || ' ' || host`+of+`'1'`, "it's 25.0 4 a.example")
	p.wants(t, `SELECT count(*)`+of+`'1' AND new`, "1")
	p.wants(t, `SELECT count(*)`+of+`'1' AND seen > '2026-02-03T04:05:05Z' AND seen < '2026-02-03T04:05:07Z'`, "1")
	p.wants(t, `SELECT sku`+of+`'2'`, "7")
	p.wants(t, `SELECT count(*)`+of+`'2' AND price IS NULL AND stock IS NULL AND new IS NULL AND tags IS NOT NULL`, "1")
	p.wants(t, `SELECT count(*)`+of+`'3' AND price > 1e300 AND seen < '2026-02-03T00:00:01Z'`, "1")
	p.wants(t, `SELECT count(seen) FROM records_product`, "2")
	p.wants(t, `SELECT sum(price) FROM records_product WHERE price < 100`, "12.5")
	p.wants(t, `SELECT count(*) FROM records_offer`, "1")
	p.wants(t, `SELECT "SKU_2" || ' ' || host_2`+of+`'4'`, "other db1") // fields that a database could confuse with other columns

	columns = []format.Column{{Name: "price", Type: format.Number}, {Name: "colour"}}
	put("product", `{"key":"5","price":2,"colour":"red"}`)
	p.wants(t, `SELECT colour || ' ' || price`+of+`'5'`, "red 2"+map[bool]string{true: ".0"}[p.Real])
	p.wants(t, `SELECT sku`+of+`'1'`, "it's")
	columns, rev = []format.Column{{Name: "price"}}, 3 // the type in the newest spec counts, whichever crawl has it
	put("product", `{"key":"6","price":"free"}`, `{"key":"6b","price":"7.5"}`)
	p.wants(t, `SELECT count(price) FROM records_product`, "6")
	p.wants(t, `SELECT price`+of+`'1'`, "12.5")
	columns, rev = []format.Column{{Name: "price", Type: format.Number}}, 2
	put("product", `{"key":"6c","price":1}`)
	p.wants(t, `SELECT price`+of+`'6'`, "free")
	rev = 4
	columns = append(columns, format.Column{Name: "size", Type: format.Integer})
	put("product", `{"key":"6d","price":20,"size":"12"}`)
	p.wants(t, `SELECT count(*) FROM records_product WHERE price BETWEEN 7 AND 8 OR price IS NULL AND key = '6'`, "2")
	p.wants(t, `SELECT size`+of+`'6d'`, "12")

	columns = []format.Column{{Name: "url"}, {Name: "title"}, {Name: "markdown"}, {Name: "fetched_at", Type: format.Time}, {Name: "visit"}, {Name: "duplicate_of"}}
	put(messages.KindPage, `{"url":"https://a.example/1","title":"T","markdown":"# T","visit":"v.1","duplicate_of":"https://a.example/"}`)
	p.wants(t, `SELECT title || ' ' || markdown || ' ' || host FROM records_page`, "T # T a.example")
	p.wants(t, `SELECT visit || ' ' || duplicate_of FROM records_page`, "v.1 https://a.example/")

	p.Exec(`DROP VIEW records_product`)
	s = Enter(t, p.open(t, sqlsink.FromRecords), Created)
	put("product", `{"key":"7"}`)
	p.wants(t, `SELECT sku`+of+`'1'`, "it's")
}

// If the database fails while a view is created, the view is created with the next attempt to write
// the same records.
func testViewsAfterTrouble(t *testing.T, p Fixture) {
	f := sqlsink.Format{Columns: func(string, string, uint64) ([]format.Column, error) { return []format.Column{{Name: "sku"}}, nil }}
	s := Enter(t, p.open(t, sqlsink.FromRecords), Created)
	put := func() error { return s.CommitAs(f, Created, 1, raw("a.1", "product", `{"key":"1","sku":"x"}`)) }
	for _, table := range []string{"fields", "commits"} {
		p.Exec(`ALTER TABLE ` + table + ` RENAME TO ` + table + `_away`)
	}
	if err := put(); err == nil {
		t.Fatal("it was written without the table of commits")
	}
	for _, table := range []string{"fields", "commits"} {
		p.Exec(`ALTER TABLE ` + table + `_away RENAME TO ` + table)
	}
	check(t, put())
	p.wants(t, `SELECT sku FROM records_product`, "x")
}
