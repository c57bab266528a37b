package state

import (
	"maps"
	"slices"

	"seine/internal/base/tally"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// figures are the model's counts of the runs of the crawls.
type figures struct {
	runs    map[runOf]*frontierapi.Run
	visits  map[visitOf]bool // whether recrawl rules have planned it, so that it belongs to no run
	sentIn  map[urlID]int64  // the last run in which a URL was sent
	fetched map[urlID]string // fetched pages, with the digest of the last
	free    map[urlID]bool   // it may be visited again in the same run without a recrawl rule
	// recorded are the pages with records, none of which says that they are gone.
	recorded map[urlID]bool
	// gaveUp are the runs in which URLs failed because their host was abandoned: late pages count
	// for these.
	gaveUp map[urlID]int64
	// answered has the last results of each URL, as many as a URL remembers.
	answered map[urlID][]messages.Class
}

type runOf struct {
	crawl string
	run   int64
}

func newFigures() figures {
	return figures{
		make(map[runOf]*frontierapi.Run), make(map[visitOf]bool), make(map[urlID]int64), make(map[urlID]string), make(map[urlID]bool), make(map[urlID]bool),
		make(map[urlID]int64), make(map[urlID][]messages.Class),
	}
}

func (f *figures) forget(crawl string) {
	maps.DeleteFunc(f.runs, func(r runOf, _ *frontierapi.Run) bool { return r.crawl == crawl })
	maps.DeleteFunc(f.visits, func(v visitOf, _ bool) bool { return v.id.crawl == crawl })
	for _, of := range []map[urlID]int64{f.sentIn, f.gaveUp} {
		maps.DeleteFunc(of, func(id urlID, _ int64) bool { return id.crawl == crawl })
	}
	maps.DeleteFunc(f.fetched, func(id urlID, _ string) bool { return id.crawl == crawl })
	maps.DeleteFunc(f.answered, func(id urlID, _ []messages.Class) bool { return id.crawl == crawl })
	for _, of := range []map[urlID]bool{f.free, f.recorded} {
		maps.DeleteFunc(of, func(id urlID, _ bool) bool { return id.crawl == crawl })
	}
}

func (f *figures) of(crawl string, run int64, recrawl bool) *frontierapi.Run {
	if recrawl {
		return new(frontierapi.Run)
	}
	at := runOf{crawl, run}
	if f.runs[at] == nil {
		f.runs[at] = new(frontierapi.Run)
	}
	return f.runs[at]
}

// sentInRun records a request, and whether recrawl rules have planned its visit. They must have if
// its run has had the URL before, unless the URL was submitted or excluded, or redirects led back
// to it.
func (m *model) sentInRun(o sent) {
	f := &m.figures
	visit := visitOf{o.id, o.round}
	before, again := f.sentIn[o.id]
	_, known := f.visits[visit]
	if !known {
		m.lostAfterAll(o)
	}
	known = known || m.fetchesLost(o) // like the previous visit
	sameRun := again && o.run <= before
	if !m.moved && !known && !f.free[o.id] && (sameRun && !o.recrawl || !again && o.recrawl) {
		m.Fatalf("%s is sent in run %d after run %d, and counts as planned by rules: %v", m.describe(o.id), o.run, before, o.recrawl)
	}
	if known && o.run > before && o.recrawl {
		m.Fatalf("%s is sent for run %d, and counts as planned by rules", m.describe(o.id), o.run)
	}
	f.visits[visit], f.sentIn[o.id] = o.recrawl, o.run
	delete(f.free, o.id)
}

func (f *figures) noteGivenUp(st *stored) {
	for id, r := range st.records {
		if r.State == Failed && r.Reason == reasonGivenUp {
			f.gaveUp[id] = r.SentRun
		}
	}
}

// countResult counts a result that has changed something, before the model records it.
func (m *model) countResult(res *messages.Result) {
	f := &m.figures
	id := urlID{res.Crawl, res.Visit.URL}
	visit := visitOf{id, res.Visit.Round}
	run := res.Run
	if _, known := f.visits[visit]; known { // its last attempt may belong to a later run
		run = max(run, f.sentIn[id], f.gaveUp[id])
	}
	recrawl := f.visits[visit] && run <= f.sentIn[id]
	if recrawl {
		f.of(id.crawl, run, false).Recrawls++
	}
	n := f.of(id.crawl, run, recrawl)
	tally.Add(&n.Requests, res.Class, 1)
	n.BytesWire += res.BytesWire
	if res.GoneRecord {
		delete(f.recorded, id)
	}
	wasGone := f.wasGone(id)
	f.answered[id] = append(f.answered[id], res.Class)
	digest, fetched := f.fetched[id]
	switch {
	case res.Class == messages.OK:
		n.Pages++
		switch {
		case !fetched:
			n.New++
		case digest == res.Digest && digest != "":
			n.Same++
		default:
			n.Changed++
		}
		f.fetched[id] = res.Digest
	case res.Class == messages.NotModified:
		n.Same++
	case res.Class == messages.Gone && fetched && !wasGone:
		n.Gone++
	case res.Class == messages.Redirect, // perhaps back to it
		res.Class == messages.RobotsDenied, res.Class == messages.RefusedAddress: // another spec may allow it
		f.free[id] = true
	}
}

// wasGone reports whether the last request with a final result had found the page gone.
func (f *figures) wasGone(id urlID) bool {
	last := f.answered[id]
	for _, class := range slices.Backward(last[max(0, len(last)-maxHistory):]) {
		if !class.Retryable() && class.IsPageRequest() {
			return class == messages.Gone
		}
	}
	return false
}

// countFed counts the records of a page whose end has changed something, and records which URLs may
// be visited again because they were submitted.
func (m *model) countFed(c *messages.Candidates, counted bool) {
	f := &m.figures
	for _, u := range c.URLs {
		if u.URL != notURL && c.Source != messages.SourceLink {
			f.free[urlID{c.Crawl, messages.HashURL(u.URL)}] = true
		}
	}
	if !counted || len(c.Records) == 0 {
		return
	}
	f.recorded[urlID{c.Crawl, c.Ends.URL}] = true
	n := f.of(c.Crawl, c.Run, f.visits[visitOf{urlID{c.Crawl, c.Ends.URL}, c.Ends.Round}])
	for _, k := range c.Records {
		n.AddRecords(k.Kind, k.N)
	}
}

// recorded checks a request against the known records: a page that was reported gone must be
// fetched completely.
func (m *model) recorded(wire *messages.Request) {
	has := m.figures.recorded[urlID{wire.Crawl, wire.Visit.URL}]
	if !m.moved && wire.Recorded && !has {
		m.Fatalf("%s is asked for as if it had records", wire.URL)
	}
}

// checkFigures: the figures of runs equal those of the applied messages.
func (m *model) checkFigures(st *stored) {
	for id, r := range st.records {
		if r.State == Excluded { // it may be admitted
			m.figures.free[id] = true
		}
	}
	if m.moved {
		return // see checkCounters
	}
	for id, r := range st.records {
		if r.Recorded != m.figures.recorded[id] && !m.doomed(id.crawl) {
			m.Fatalf("%s has records: %t, want %t", m.describe(id), r.Recorded, m.figures.recorded[id])
		}
	}
	for at, want := range m.figures.runs {
		if got := st.runs[at]; got == nil && !m.doomed(at.crawl) {
			m.Fatalf("run %d of crawl %s has no figures, want %s", at.run, at.crawl, mustText(want))
		}
	}
	for at, got := range st.runs {
		if m.doomed(at.crawl) {
			continue
		}
		want := *m.figures.of(at.crawl, at.run, false)
		if got.Started.IsZero() || got.Last.Before(got.Started) || !got.Ended.IsZero() {
			m.Fatalf("run %d of crawl %s has no right times: %s", at.run, at.crawl, mustText(got))
		}
		want.Run, want.Started, want.Last, want.Failed = at.run, got.Started, got.Last, got.Failed
		if a, b := mustText(got), mustText(want); a != b {
			m.Fatalf("run %d of crawl %s has the figures %s, want %s", at.run, at.crawl, a, b)
		}
	}
}
