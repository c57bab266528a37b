package sqlsinktest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"seine/internal/base/jsontext"
	"seine/internal/output"
	"seine/internal/output/format"
	"seine/internal/output/sqlsink"
	"seine/internal/run/specfile"
	"seine/internal/testing/outputtest"
	"seine/pkg/messages"
)

// shop simulates a site whose lists of items change from run to run.
type shop struct {
	rand  *rand.Rand
	lists []map[string]int // prices of items, by page
	seen  []map[string]int // items at the last visit of each page; nil before the first
	round uint64
}

// change makes items appear, disappear, change their price and move to other pages.
func (s *shop) change() {
	for page, list := range s.lists {
		s.lists[page] = maps.Clone(list)
	}
	for range s.rand.IntN(6) {
		page := s.rand.IntN(len(s.lists))
		item := fmt.Sprintf("i%d", s.rand.IntN(20))
		at := slices.IndexFunc(s.lists, func(list map[string]int) bool { return list[item] != 0 })
		switch s.rand.IntN(5) {
		case 4: // on two pages
			if at >= 0 {
				s.lists[page][item] = s.lists[at][item]
			}
		case 0:
			clear(s.lists[page])
		case 1:
			if at >= 0 {
				delete(s.lists[at], item)
			}
		case 2:
			if at >= 0 {
				s.lists[page][item], s.lists[at] = s.lists[at][item], maps.Clone(s.lists[at])
				if at != page {
					delete(s.lists[at], item)
				}
			}
		default:
			price := 1 + s.rand.IntN(5)
			for _, list := range s.lists {
				if list[item] != 0 {
					list[item] = price
				}
			}
			if at < 0 {
				s.lists[page][item] = price
			}
		}
	}
}

func (s *shop) items() map[string]int {
	all := make(map[string]int)
	for _, list := range s.lists {
		maps.Copy(all, list)
	}
	return all
}

// visit returns the records of a run that visits all pages.
func (s *shop) visit(run int64) (all []*format.Record) {
	s.round++
	at := time.Unix(run, 0).UTC()
	for _, page := range s.rand.Perm(len(s.lists)) {
		at = at.Add(time.Second)
		list, url := s.lists[page], fmt.Sprintf("https://a.example/list%d", page)
		visit := messages.Visit{URL: messages.HashURL(url), Round: s.round}
		if s.seen[page] != nil && (len(list) == 0 || maps.Equal(list, s.seen[page]) && s.rand.IntN(2) == 0) {
			r := messages.VisitRecord{
				Kind: messages.KindVisit, URL: url, FetchedAt: at, Crawl: "a", Visit: visit, Run: run, Class: messages.OK,
				Same: maps.Equal(list, s.seen[page]) && len(list) > 0,
			}
			m := r.Msg(0)
			all = append(all, &format.Record{ID: m.Header.Get("Nats-Msg-Id"), Kind: r.Kind, Stored: at, Header: m.Header, Data: m.Data})
		}
		s.seen[page] = list
		if len(all) > 0 && all[len(all)-1].ID == messages.VisitID("a", visit)+".visit.0" {
			continue
		}
		for n, item := range slices.Sorted(maps.Keys(list)) {
			line := fmt.Sprintf(`{"kind":"item","url":%q,"fetched_at":%q,"crawl":"a","visit":%q,"run":%d,"key":%q,"price":%d,"name":"N"}`,
				url, at.Format(time.RFC3339Nano), visit, run, item, list[item])
			all = append(all, raw(fmt.Sprintf("%s.item.%d", messages.VisitID("a", visit), n), "item", line))
		}
	}
	return all
}

// changed returns the changes of a run as text, with a line for each item.
func changed(before, now map[string]int) string {
	var all []string
	for item, price := range now {
		switch was, had := before[item]; {
		case !had:
			all = append(all, fmt.Sprintf("%s new %d", item, price))
		case was != price:
			all = append(all, fmt.Sprintf(`%s changed %d was %d ["price"]`, item, price, was))
		default:
			all = append(all, fmt.Sprintf("%s same %d", item, price))
		}
	}
	for item, price := range before {
		if _, has := now[item]; !has {
			all = append(all, fmt.Sprintf("%s gone %d", item, price))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// testChanges compares the views with a simulated shop whose items appear, disappear, change and
// move. Runs are committed in batches of random sizes.
func testChanges(t *testing.T, p Fixture) {
	spec, err := specfile.Load("spec.yaml", []byte("records: [{kind: item, key: '{sku}', fields: {sku: .s, price: {css: .p, as: integer}}}]\n"))
	check(t, err)
	f := sqlsink.Format{Columns: func(_, kind string, _ uint64) ([]format.Column, error) { return format.ColumnsOf(spec, kind), nil }}
	sink := p.open(t, sqlsink.FromRecords)
	stay := Enter(t, sink, Created)
	s := &shop{rand: rand.New(rand.NewPCG(1, 2)), lists: make([]map[string]int, 4), seen: make([]map[string]int, 4)}
	for i := range s.lists {
		s.lists[i] = make(map[string]int)
	}
	truth := make(map[int64]string)
	var waiting []*format.Record
	next, now := uint64(1), map[string]int{}
	for n := range 60 {
		run := int64(1_800_000_000 + 3600*n)
		s.change()
		waiting = append(waiting, s.visit(run)...)
		truth[run] = changed(now, s.items())
		now = s.items()
		if s.rand.IntN(3) > 0 || n == 59 {
			for len(waiting) > 0 {
				part := waiting[:1+s.rand.IntN(len(waiting))]
				check(t, stay.CommitAs(f, Created, next, part...))
				next, waiting = next+uint64(len(part)), waiting[len(part):]
			}
		}
	}
	compare := func(run int64, want string) {
		t.Helper()
		var rows []string
		check(t, jsontext.Unmarshal([]byte(p.Ask(fmt.Sprintf(p.List, `SELECT key || ' ' || change || ' ' || price || coalesce(' was ' || (was ->> 'price') || ' ' || changed, '') AS line
			FROM changes_item WHERE run = `+fmt.Sprint(run)))), &rows))
		slices.Sort(rows)
		if got := strings.Join(rows, "\n"); got != want {
			t.Errorf("run %d:\n%s\nwant\n%s", run, got, want)
		}
	}
	for run, want := range truth {
		compare(run, want)
	}
	p.wants(t, `SELECT count(*) || ' ' || coalesce(sum(price), 0) FROM records_item`, fmt.Sprintf("%d %d", len(now), sum(now)))
	count := func(each func(func(string, []byte) error) error) (n int) {
		check(t, each(func(string, []byte) error { n++; return nil }))
		return n
	}
	if n := count(func(do func(string, []byte) error) error { return sink.EachItem(sqlsink.Choice{Kind: "item"}, do) }); n != len(now) {
		t.Errorf("%d items are there, want %d", n, len(now))
	}
	if n := count(sink.EachRecord); n != len(now) {
		t.Errorf("%d records are there, want %d", n, len(now))
	}
	last := strings.Count(truth[slices.Max(slices.Collect(maps.Keys(truth)))], "\n") + 1
	if n := count(func(do func(string, []byte) error) error { return sink.EachChange(sqlsink.Choice{LastRun: true}, do) }); n != last {
		t.Errorf("%d changes of the last run, want %d", n, last)
	}
	p.wants(t, `SELECT count(*) FROM history_item WHERE change = 'same'`, "0")
	p.wants(t, `SELECT count(*) FROM records_item i WHERE checked_at < (SELECT max(checked_at) FROM records_item j WHERE j.url = i.url)`, "0")

	// Old history is dropped.
	check(t, outputtest.Verify(output.Output{Log: sink}))
	const end = 1_800_000_000 + 3600*30
	items := p.Ask(fmt.Sprintf(p.List, `SELECT key || first_seen || changed_at || price AS line FROM records_item ORDER BY key`))
	p.Exec(strings.ReplaceAll(ReadDocumented(t).Drop, "2026-08-01", time.Unix(end, 0).UTC().Format(time.RFC3339)))
	check(t, outputtest.Verify(output.Output{Log: sink}))
	for run, want := range truth {
		if run >= end {
			compare(run, want)
		}
	}
	p.wants(t, fmt.Sprintf(p.List, `SELECT key || first_seen || changed_at || price AS line FROM records_item ORDER BY key`), items)
	p.wants(t, fmt.Sprintf(`SELECT CASE WHEN count(*) < 100 THEN 'few' END FROM events WHERE data IS NOT NULL AND kind = 'item' AND run < %d`, end), "few")
}

// testRunsOfABatch commits two runs in one batch. The unchanged page of the first run counts,
// although the second run finds its item on another page.
func testRunsOfABatch(t *testing.T, p Fixture) {
	spec, err := specfile.Load("spec.yaml", []byte("records: [{kind: item, key: '{sku}', fields: {sku: .s}}]\n"))
	check(t, err)
	f := sqlsink.Format{Columns: func(_, kind string, _ uint64) ([]format.Column, error) { return format.ColumnsOf(spec, kind), nil }}
	stay := Enter(t, p.open(t, sqlsink.FromRecords), Created)
	visit := func(page string, run int) (url, at string, v messages.Visit) {
		url = "https://a.example/" + page
		return url, Created.Add(time.Duration(run)*time.Hour + time.Duration('b'-page[0])*time.Minute).Format(time.RFC3339Nano), messages.Visit{URL: messages.HashURL(url), Round: uint64(run)}
	}
	found := func(page string, run int) *format.Record {
		url, at, v := visit(page, run)
		line := fmt.Sprintf(`{"kind":"item","url":%q,"fetched_at":%q,"crawl":"a","visit":%q,"run":%d,"key":"i"}`, url, at, v, run)
		return raw(messages.VisitID("a", v)+".item.0", "item", line)
	}
	same := func(page string, run int) *format.Record {
		url, at, v := visit(page, run)
		line := fmt.Sprintf(`{"kind":"visit","url":%q,"fetched_at":%q,"crawl":"a","visit":%q,"run":%d,"same":true}`, url, at, v, run)
		return raw(messages.VisitID("a", v)+".visit.0", "visit", line)
	}
	check(t, stay.CommitAs(f, Created, 1, found("b", 1), found("a", 1)))
	check(t, stay.CommitAs(f, Created, 3, same("a", 2), found("b", 3), same("a", 3)))
	p.wants(t, `SELECT count(*) FROM changes_item WHERE run = 2 AND change = 'same'`, "1")
	p.wants(t, `SELECT count(*) FROM changes_item WHERE change <> 'same'`, "1")
}

func sum(prices map[string]int) (n int) {
	for _, price := range prices {
		n += price
	}
	return n
}
