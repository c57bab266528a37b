package state

import (
	"reflect"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// runs returns the figures of the crawl's runs, as the partition answers.
func (w *partitionFixture) runs() []frontierapi.Run {
	w.t.Helper()
	runs, err := w.part.runs.newest("c", 2*frontierapi.MaxRuns)
	w.must(err)
	return runs
}

// wantRun compares the figures of a run without its times.
func (w *partitionFixture) wantRun(at int, want frontierapi.Run) {
	w.t.Helper()
	runs := w.runs()
	if at >= len(runs) {
		w.t.Fatalf("there are %d runs, want more than %d", len(runs), at)
	}
	got := runs[at]
	got.Run, got.Started, got.Last = 0, time.Time{}, time.Time{}
	if !reflect.DeepEqual(got, want) {
		w.t.Errorf("run %d has the figures\n%+v, want\n%+v", at, got, want)
	}
}

// fetched answers a request for a URL with a page whose body has a digest, and ends its visit with
// so many products.
func (w *partitionFixture) fetched(url, digest string, products int64) {
	w.t.Helper()
	req := w.part.urls.inFlight[urlID{"c", messages.HashURL(url)}]
	if req == nil {
		w.t.Fatalf("%s is not under way", url)
	}
	m := w.endOf(req, products)
	w.result(url, func(r *messages.Result) {
		r.Run, r.Digest, r.BytesWire, r.BytesBody = req.SentRun, digest+"0000000000000000", 10, 30
	})
	for range 2 { // the second changes nothing
		_, err := w.part.ApplyCandidates(m, 1, w.at())
		w.must(err)
	}
	w.must(w.part.Commit(w.at()))
}

func (w *partitionFixture) endOf(req *Request, products int64) *messages.Candidates {
	m := &messages.Candidates{Crawl: "c", Rev: w.current.Rev, Source: messages.SourceLink, Referrer: req.URL, Run: req.SentRun, Ends: req.visit(req.id.hash)}
	if products > 0 {
		m.Records = []messages.KindCount{{Kind: messages.KindPage, N: 1}, {Kind: "product", N: products}}
	}
	return m
}

const digestA, digestB = "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"

// The figures of each run count its visits once, whatever is repeated and however often the process
// is killed.
func TestEachRunHasTheFiguresOfItsVisits(t *testing.T) {
	const a, b, c, d = "https://a.test/a", "https://a.test/b", "https://a.test/c", "https://a.test/d"
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Schedule, s.MaxAttempts = "@every 1h", 1 })
	w.seed(a, b, c, d)
	w.dispatch(10)
	w.fetched(a, digestA, 2)
	w.fetched(b, digestA, 3)
	w.fetched(c, digestA, 0)
	w.result(d, class(messages.ServerError))
	w.result(d, func(r *messages.Result) { r.Class, r.Attempt = messages.ServerError, 1 }) // again
	w.restart()
	w.wantRun(0, frontierapi.Run{
		Requests: map[messages.Class]int64{"ok": 3, "server_error": 1}, Records: map[string]int64{"page": 2, "product": 5},
		Pages: 3, New: 3, Failed: 1, BytesWire: 30, BytesBody: 90,
	})
	first := w.runs()[0]
	w.pass(time.Hour)
	w.dispatch(10)
	w.fetched(a, digestA, 2)
	w.fetched(b, digestB, 1)
	w.result(c, class(messages.Gone))
	w.result(d, class(messages.Gone))
	w.restart()
	w.wantRun(1, frontierapi.Run{
		Requests: map[messages.Class]int64{"ok": 2, "gone": 2}, Records: map[string]int64{"page": 2, "product": 3},
		Pages: 2, Changed: 1, Same: 1, Gone: 1, Failed: 2, BytesWire: 20, BytesBody: 60,
	})
	runs := w.runs()
	if !reflect.DeepEqual(runs[0], first) {
		t.Errorf("the first run became %+v, and was %+v", runs[0], first)
	}
	if started := time.Unix(runs[1].Run, 0); len(runs) != 2 || runs[0].Run != 0 || runs[1].Started.Before(started) || runs[1].Last.Before(runs[1].Started) {
		t.Errorf("runs are %+v", runs)
	}
}

// A page counts as gone in the run that finds it gone, and in later ones only if it existed in
// between.
func TestPagesAreGoneInOneRun(t *testing.T) {
	t.Parallel()
	const a = "https://a.test/a"
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Schedule, s.MaxAttempts = "@every 1h", 1 })
	w.seed(a)
	for i, run := range []struct {
		class messages.Class
		gone  int64
	}{
		{messages.OK, 0}, {messages.Gone, 1}, {messages.Gone, 0}, {messages.ServerError, 0}, {messages.Gone, 0},
		{messages.OK, 0}, {messages.ServerError, 0}, {messages.Gone, 1}, {messages.ClientError, 0}, {messages.Gone, 1},
	} {
		w.dispatch(10)
		if run.class == messages.OK {
			w.fetched(a, digestA, 1)
		} else {
			w.result(a, class(run.class))
		}
		w.restart()
		if runs := w.runs(); len(runs) != i+1 || runs[i].Gone != run.gone {
			t.Errorf("run %d, %s: there are %d runs, want gone %d: %+v", i, run.class, len(runs), run.gone, runs[len(runs)-1])
		}
		w.pass(time.Hour)
	}
}

// A page that recrawl rules have visited again counts for no run, and does not keep one open; one
// that a run has found meanwhile counts for that.
func TestVisitsThatRulesHavePlannedBelongToNoRun(t *testing.T) {
	const a, b = "https://a.test/a", "https://a.test/b"
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.Recrawl = []crawlspec.RecrawlRule{{Match: "*", Every: crawlspec.Duration(time.Hour)}}
	})
	w.seed(a, b)
	w.dispatch(10)
	w.fetched(a, digestA, 1)
	w.fetched(b, digestA, 1)
	first := frontierapi.Run{Requests: map[messages.Class]int64{"ok": 2}, Records: map[string]int64{"page": 2, "product": 2}, Pages: 2, New: 2, BytesWire: 20, BytesBody: 60}
	w.wantRun(0, first)
	last := w.runs()[0].Last
	w.pass(2 * time.Hour)
	w.wantSent(w.dispatch(10), a, b)
	if c := w.part.crawls.get("c"); c.Pending() != 2 || c.Recrawling != 2 {
		t.Errorf("%d URLs are open, and %d for no run", c.Pending(), c.Recrawling)
	}
	w.restart()
	w.fetched(a, digestB, 5)
	first.Recrawls = 1
	w.wantRun(0, first)
	if got := w.runs()[0].Last; !got.Equal(last) {
		t.Errorf("the run ended at %s, and now at %s", last, got)
	}
	w.result(b, class(messages.ServerError)) // it waits for another attempt
	w.change(func(s *crawlspec.Spec) { s.Again = w.now.Unix() })
	w.pass(time.Minute)
	w.wantSent(w.dispatch(10), a, b)
	if c := w.part.crawls.get("c"); c.Pending() != 2 || c.Recrawling != 0 {
		t.Errorf("%d URLs are open for the run, and %d for none", c.Pending(), c.Recrawling)
	}
	w.fetched(a, digestB, 1)
	w.fetched(b, digestB, 1)
	first.Recrawls = 2
	w.wantRun(0, first)
	w.wantRun(1, frontierapi.Run{
		Requests: map[messages.Class]int64{"ok": 2}, Records: map[string]int64{"page": 2, "product": 2}, Pages: 2, Changed: 1, Same: 1, BytesWire: 20, BytesBody: 60,
	})
	if c := w.part.crawls.get("c"); c.Recrawling != 0 {
		t.Errorf("%d URLs are open for no run", c.Recrawling)
	}
}

// An owner that takes over with an older state knows which of the reported visits were planned by
// recrawl rules.
func TestNewOwnerKnowsWhichVisitsBelongToNoRun(t *testing.T) {
	const a = "https://a.test/a"
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.Recrawl = []crawlspec.RecrawlRule{{Match: "*", Every: crawlspec.Duration(time.Hour)}}
	})
	w.seed(a)
	w.dispatch(10)
	w.fetched(a, digestA, 1)
	id := urlID{"c", messages.HashURL(a)}
	for _, endFirst := range []bool{false, true} { // the former owner has sent the next visit
		before := w.runs()[0]
		r, err := w.part.urls.record(id)
		w.must(err)
		next := &urlRecord{URL: a, Round: r.Round + 1}
		if endFirst {
			_, err = w.part.ApplyCandidates(w.endOf(&Request{urlRecord: next, id: id}, 7), 1, w.at())
			w.must(err)
		}
		w.result(a, func(res *messages.Result) { res.Visit.Round = next.Round })
		before.Recrawls++
		if got := w.runs()[0]; !reflect.DeepEqual(got, before) {
			t.Errorf("the run has the figures\n%+v, want\n%+v", got, before)
		}
		if !endFirst {
			_, err = w.part.ApplyCandidates(w.endOf(&Request{urlRecord: next, id: id}, 7), 1, w.at())
			w.must(err)
			w.must(w.part.Commit(w.at()))
		}
		w.wantState(a, Done, "")
		if got := w.runs()[0]; !reflect.DeepEqual(got, before) {
			t.Errorf("with its records the run has the figures\n%+v, want\n%+v", got, before)
		}
		if c := w.part.crawls.get("c"); c.Recrawling != 0 {
			t.Errorf("%d URLs are open for no run", c.Recrawling)
		}
	}
}

func TestOldestRunsAreForgotten(t *testing.T) {
	w := newPartitionFixture(t, everyHour)
	const a = "https://a.test/a"
	w.seed(a)
	for range frontierapi.MaxRuns + 5 {
		w.dispatch(10)
		w.fetched(a, digestA, 0)
		w.pass(time.Hour)
	}
	runs := w.runs()
	if len(runs) != frontierapi.MaxRuns || runs[0].Run == 0 || runs[frontierapi.MaxRuns-1].Pages != 1 {
		t.Fatalf("%d runs are kept, from %d on, want %d", len(runs), runs[0].Run, frontierapi.MaxRuns)
	}
	w.part.runs.goesOn("c", 0, w.at()) // a late message of the first run
	w.must(w.part.Commit(w.at()))
	if got := w.runs(); !reflect.DeepEqual(got, runs) {
		t.Errorf("a message of a run that is forgotten has brought it back: %+v", got[0])
	}
}

func TestFiguresOfARunThatCannotBeReadBeginAnew(t *testing.T) {
	w := newPartitionFixture(t, nil)
	const a, b = "https://a.test/a", "https://a.test/b"
	w.seed(a, b)
	w.dispatch(10)
	w.fetched(a, digestA, 0)
	w.must(w.store.db.Set(w.part.runs.runKey("c", 0), []byte("{"), pebble.Sync))
	w.restart()
	w.fetched(b, digestA, 0)
	w.wantRun(0, frontierapi.Run{Requests: map[messages.Class]int64{"ok": 1}, Pages: 1, New: 1, BytesWire: 10, BytesBody: 30})
	if !w.part.loggedRepairs[repairCounters] {
		t.Error("nobody is told")
	}
}
