package state

import (
	"fmt"
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// A changed schedule applies from then on. The next run is that of the new one, and a start before
// the change is not made up for.
func TestChangedScheduleIsObeyed(t *testing.T) {
	const root = "https://a.test/"
	for _, before := range []string{"", "@every 720h", "@every 1h"} {
		s := newSite(t, func(spec *crawlspec.Spec) { spec.Schedule = before }, nil)
		s.seed(root)
		s.crawl()
		s.pass(30*time.Minute + 7*time.Second)
		s.crawl()
		s.wantAsked()
		s.change(func(spec *crawlspec.Spec) { spec.Schedule = "@every 1m" })
		s.crawl()
		s.wantAsked()
		s.restart()
		s.crawl()
		s.wantAsked()
		s.pass(time.Minute)
		s.crawl()
		s.wantAsked(root)
		s.change(func(spec *crawlspec.Spec) { spec.Schedule = "@every 720h" })
		s.pass(time.Hour)
		s.crawl()
		s.wantAsked()
		s.change(func(spec *crawlspec.Spec) { spec.Schedule = "@every 1m"; spec.State = crawlspec.Cancelled })
		s.pass(time.Minute)
		s.crawl()
		s.wantAsked()
		s.wantState(root, Done, "")
	}
}

// visitedHourly returns a crawl that fetches pages every hour, in which a page has been visited.
func visitedHourly(t *testing.T, page string) *partitionFixture {
	t.Helper()
	w := newPartitionFixture(t, recrawlEvery(time.Hour))
	w.seed(page)
	w.dispatch(10)
	w.result(page, class(messages.NotModified))
	return w
}

func recrawlEvery(d time.Duration) func(*crawlspec.Spec) {
	return func(s *crawlspec.Spec) {
		s.Recrawl = nil
		if d > 0 {
			s.Recrawl = []crawlspec.RecrawlRule{{Match: "*", Every: crawlspec.Duration(d)}}
		}
	}
}

// A planned visit is dropped with its rule, even of a page that fails, moves with a changed rule,
// and is planned when there is a rule.
func TestChangedRecrawlIsObeyed(t *testing.T) {
	const page, failing = "https://a.test/", "https://b.test/"
	w := newPartitionFixture(t, recrawlEvery(time.Hour))
	w.spec.MaxAttempts = 1
	w.change(func(*crawlspec.Spec) {})
	visit := func() {
		t.Helper()
		if got := w.dispatch(10); len(got) != 2 {
			t.Fatalf("sent %q, want both", got)
		}
		w.result(page, class(messages.NotModified))
		w.result(failing, class(messages.Timeout))
	}
	planned := func(want int64) {
		t.Helper()
		w.tend()
		if n := w.part.crawls.get("c").Planned; n != want {
			t.Fatalf("%d visits are planned, want %d", n, want)
		}
	}
	w.seed(page, failing)
	w.dispatch(10)
	w.result(page, class(messages.NotModified))
	w.result(failing, class(messages.Gone))
	planned(2)
	w.pass(2 * time.Hour)
	visit()
	planned(2)
	w.change(recrawlEvery(0))
	planned(0)
	w.pass(2 * time.Hour)
	w.wantSent(w.dispatch(10))
	w.wantState(page, Done, "")
	w.change(recrawlEvery(720 * time.Hour))
	w.pass(time.Hour)
	w.wantSent(w.dispatch(10))
	w.change(recrawlEvery(time.Minute))
	w.tend()
	w.pass(2 * time.Minute)
	if got := w.dispatch(10); len(got) == 0 || got[0] != page {
		t.Errorf("sent %q, want %s by the shorter interval", got, page)
	}
}

// Cancelling drops planned visits, and undoes nothing; resuming plans them again.
func TestCancellingDropsPlannedVisits(t *testing.T) {
	const page = "https://a.test/"
	w := visitedHourly(t, page)
	set := func(state crawlspec.RunState, planned int64) {
		t.Helper()
		w.change(func(s *crawlspec.Spec) { s.State = state })
		w.tend()
		w.wantState(page, Done, "")
		if n := w.part.crawls.get("c").Planned; n != planned {
			t.Errorf("%d visits are planned, want %d", n, planned)
		}
	}
	set(crawlspec.Cancelled, 0)
	w.pass(2 * time.Hour)
	w.wantSent(w.dispatch(10))
	set(crawlspec.Cancelled, 0)
	w.change(func(s *crawlspec.Spec) { s.State = crawlspec.Running })
	w.tend()
	w.pass(2 * time.Minute * 8)
	w.wantSent(w.dispatch(10), page)
}

// A changed spec keeps the submitted priority of a URL, and undoes that of its rules.
func TestChangedSpecKeepsExplicitPriorities(t *testing.T) {
	w := newPartitionFixture(t, nil)
	urgent := 1
	_, err := w.part.ApplyCandidates(&messages.Candidates{
		Crawl: "c", Source: messages.SourceSeed, URLs: []messages.Candidate{{URL: "https://a.test/", Priority: &urgent}, {URL: "https://a.test/x"}},
	}, 1, w.at())
	w.must(err)
	w.must(w.part.Commit(w.at()))
	want := func(root, x byte) {
		t.Helper()
		w.tend()
		w.restart()
		for url, p := range map[string]byte{"https://a.test/": root, "https://a.test/x": x} {
			r, err := w.part.urls.record(urlID{"c", messages.HashURL(url)})
			w.must(err)
			if r.Priority != p {
				t.Errorf("%s has priority %d, want %d", url, r.Priority, p)
			}
		}
	}
	rule := func(match string) func(*crawlspec.Spec) {
		return func(s *crawlspec.Spec) { s.Priorities = []crawlspec.PriorityRule{{Match: match, Priority: 9}} }
	}
	w.change(rule("*x"))
	want(1, 9)
	w.change(rule("*"))
	want(9, 9)
	w.change(rule("*nothing"))
	want(1, messages.DefaultPriority)
	w.change(func(s *crawlspec.Spec) { s.Priorities = nil })
	want(1, messages.DefaultPriority)
}

// A planned visit that is due follows the current rules, though a review of all URLs has not
// reached it yet.
func TestPlannedVisitThatIsDueGoesByTheRulesOfNow(t *testing.T) {
	const page = "https://a.test/"
	w := visitedHourly(t, page)
	id := urlID{"c", messages.HashURL(page)}
	for _, every := range []time.Duration{720 * time.Hour, 0} {
		w.pass(2 * time.Hour)
		w.change(recrawlEvery(every))
		w.part.crawls.specsGen = w.gen
		_, err := w.part.crawls.rules("c", 0)
		w.must(err)
		w.must(w.part.Commit(w.at()))
		r, err := w.part.urls.record(id)
		w.must(err)
		w.must(w.part.visits.wakeUp(r, id, w.at()))
		w.must(w.part.Commit(w.at()))
		w.wantState(page, Done, "")
	}
	w.restart()
	if n := w.part.crawls.get("c").Planned; n != 0 {
		t.Errorf("%d visits are planned, want none", n)
	}
}

// A run ends at an abandoned host as the first visit does: its queued URLs fail, once.
func TestRunGivesUpADeadHost(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.Schedule, s.MaxAttempts, s.PerHost = "@every 100h", 1, 1
		s.Breaker = crawlspec.Breaker{Failures: 1, Wait: 60 * second, MaxWait: 3600 * second, Probes: 1}
	})
	urls := []string{"https://a.test/1", "https://a.test/2", "https://a.test/3"}
	w.seed(urls...)
	for _, url := range urls {
		w.wantSent(w.dispatch(1), url)
		w.result(url, class(messages.NotModified))
	}
	w.pass(101 * time.Hour)
	for range 2 { // the failure that opens the breaker, and the probe
		sent := w.dispatch(1)
		if len(sent) != 1 {
			t.Fatalf("sent %q, want one", sent)
		}
		w.result(sent[0], class(messages.Timeout))
		w.pass(time.Minute)
	}
	w.wantSent(w.dispatch(1))
	for _, url := range urls {
		if state, reason := w.state(url); state != Failed {
			t.Errorf("%s is %v %q, want failed", url, state, reason)
		}
	}
	if c := w.part.crawls.get("c"); c.Pending() != 0 {
		t.Errorf("%d URLs are open", c.Pending())
	}
}

// A cancelled crawl ends though it has a schedule, and continues when it is resumed: URLs that a
// run has found meanwhile are visited then.
func TestCancelledCrawlWithAScheduleEnds(t *testing.T) {
	const root, a = "https://a.test/", "https://a.test/a"
	s := newSite(t, everyHour, map[string][]string{root: {a}})
	s.seed(root)
	s.crawl()
	s.pass(time.Hour)
	if got := s.dispatch(10); len(got) != 1 {
		t.Fatalf("sent %q, want the seed", got)
	}
	s.change(func(spec *crawlspec.Spec) { spec.State = crawlspec.Cancelled })
	s.tend()
	s.answer(root) // the run finds a
	s.tend()
	s.wantState(a, Done, "")
	if c := s.part.crawls.get("c"); !c.ended() || c.nextRun != 0 {
		t.Errorf("the crawl has not ended: %+v", c.crawlState)
	}
	s.change(func(spec *crawlspec.Spec) { spec.State = crawlspec.Running })
	s.crawl()
	s.wantAsked(a)
}

// A page that is visited again has the priority of the current rules.
func TestPageIsVisitedAgainByThePriorityOfNow(t *testing.T) {
	const page = "https://a.test/"
	w := visitedHourly(t, page)
	w.change(func(s *crawlspec.Spec) { s.Priorities = []crawlspec.PriorityRule{{Match: "*", Priority: 1}} })
	w.tend()
	w.pass(2 * time.Hour)
	w.wantSent(w.dispatch(10), page)
	r, err := w.part.urls.record(urlID{"c", messages.HashURL(page)})
	w.must(err)
	if r.Priority != 1 || r.Own != messages.DefaultPriority {
		t.Errorf("priority %d, and %d of its own, want 1 and %d", r.Priority, r.Own, messages.DefaultPriority)
	}
}

// A crawl that has ended visits all URLs once more when its spec says so, with conditional
// requests, across changed and unchanged pages, and ends again.
func TestCrawlVisitsEverythingAgain(t *testing.T) {
	const root, a, b, c, d = "https://a.test/", "https://a.test/a", "https://a.test/b", "https://a.test/c", "https://a.test/x/d"
	s := newSite(t, func(spec *crawlspec.Spec) { spec.Exclude = []string{"*/x/*"} }, map[string][]string{root: {a, d}, a: {b}})
	s.seed(root)
	s.crawl()
	s.wantAsked(root, a, b)
	s.pass(time.Hour)
	for _, links := range []string{"", c} {
		s.change(func(spec *crawlspec.Spec) { spec.Again = s.now.Unix() })
		if links != "" {
			s.links[b], s.changed[b] = []string{links}, true
		}
		s.crawl()
		if links == "" {
			s.wantAsked(root, a, b)
		} else {
			s.wantAsked(root, a, b, c)
		}
		if n := len(s.whole); n != len(links)/len(c) {
			t.Errorf("%q were asked without validators", s.whole)
		}
		s.restart()
		s.crawl()
		s.wantAsked()
		s.wantState(d, Excluded, frontierapi.ReasonExclude)
		if !s.part.crawls.get("c").ended() {
			t.Error("the crawl has not ended")
		}
		s.pass(time.Hour)
	}
}

// A new crawl has nothing to visit again, and a cancelled one does so when it is resumed.
func TestOnlyWhatWasVisitedIsVisitedAgain(t *testing.T) {
	const root = "https://a.test/"
	s := newSite(t, func(spec *crawlspec.Spec) { spec.Again = 1 }, nil)
	s.seed(root)
	s.crawl()
	s.wantAsked(root)
	s.change(func(spec *crawlspec.Spec) { spec.Again, spec.State = 2, crawlspec.Cancelled })
	s.crawl()
	s.wantAsked()
	s.change(func(spec *crawlspec.Spec) { spec.State = crawlspec.Running })
	s.crawl()
	s.wantAsked(root)
}

// A run over all URLs that was interrupted early is known as such, though no URL is open: another
// one is not begun over it.
func TestUnfinishedRunOverEverythingIsKnown(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Exclude = []string{"*"} })
	urls := make([]string, reviewed+1)
	for i := range urls {
		urls[i] = fmt.Sprintf("https://a.test/%d", i)
	}
	w.seed(urls...)
	w.tend()
	visiting := func(when string, want bool) {
		t.Helper()
		st, err := w.part.Questions.status("c")
		w.must(err)
		if st.VisitingAll != want || st.Counters.Pending() != 0 {
			t.Errorf("%s: visiting all is %t with %d open, want %t", when, st.VisitingAll, st.Counters.Pending(), want)
		}
	}
	visiting("before", false)
	w.change(func(s *crawlspec.Spec) { s.Again = 7 })
	w.step()
	visiting("after a turn", true)
	w.restart()
	visiting("after a restart", true)
	w.tend()
	visiting("at its end", false)
}

// A dormant crawl stays in memory until the run over all URLs that its spec requests has begun.
// Otherwise it would wait for the next message.
func TestCrawlIsNotLetGoBeforeItIsVisitedAgain(t *testing.T) {
	const page = "https://a.test/"
	s := newSite(t, nil, nil)
	s.seed(page)
	s.crawl()
	s.wantAsked(page)
	s.change(func(spec *crawlspec.Spec) { spec.State = crawlspec.Cancelled })
	s.tend()
	c := s.part.crawls.get("c")
	s.change(func(spec *crawlspec.Spec) { spec.Again, spec.State = 7, crawlspec.Running })
	c.rules, c.Rev, c.dirty = s.current, s.current.Rev, false
	for range 2 {
		if s.part.crawls.unload("c", c, s.at()) {
			t.Fatal("it was let go")
		}
		s.pass(2 * time.Minute)
	}
	c.Again = 7
	for _, want := range []bool{false, true} {
		if got := s.part.crawls.unload("c", c, s.at()); got != want {
			t.Errorf("when the run has begun it is let go: %t, want %t", got, want)
		}
		s.pass(2 * time.Minute)
	}
}
