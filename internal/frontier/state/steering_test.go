package state

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"seine/internal/schedule/traps"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

const second = crawlspec.Duration(time.Second)

// How a crawl is controlled: by its spec, which may change while it runs.

func TestChangedRulesJudgeWhatIsKnownAgain(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/")
	w.link(1, "https://a.test/docs/1", "https://a.test/blog/1", "https://b.test/")
	w.change(func(s *crawlspec.Spec) { s.Exclude, s.Domains = []string{"*/blog/*"}, []string{"b.test"} })
	w.tend()
	w.wantState("https://a.test/docs/1", Queued, "")
	w.wantState("https://a.test/blog/1", Excluded, frontierapi.ReasonExclude)
	w.wantState("https://b.test/", Queued, "")
	w.change(func(s *crawlspec.Spec) { s.Exclude, s.Domains = nil, nil })
	w.restart() // a review continues afterwards
	w.tend()
	w.wantState("https://a.test/blog/1", Queued, "")
	w.wantState("https://b.test/", Excluded, frontierapi.ReasonScope)
	w.wantSent(w.dispatch(10), "https://a.test/", "https://a.test/docs/1", "https://a.test/blog/1")
}

func TestPausedCrawlSendsNothingUntilItIsResumed(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/1", "https://a.test/2")
	w.wantSent(w.dispatch(1), "https://a.test/1")
	w.change(func(s *crawlspec.Spec) { s.State = crawlspec.Paused })
	w.wantSent(w.dispatch(10))
	w.restart()
	w.result("https://a.test/1", nil) // requests in flight continue
	w.link(1, "https://a.test/3")
	w.wantSent(w.dispatch(10))
	w.wantState("https://a.test/1", Parsing, "")
	w.wantState("https://a.test/3", Queued, "")
	w.change(func(s *crawlspec.Spec) { s.State = crawlspec.Running })
	w.wantSent(w.dispatch(10), "https://a.test/2", "https://a.test/3")
}

func TestOneHostIsPausedOrCancelledAlone(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/", "https://b.test/", "https://c.test/")
	w.change(func(s *crawlspec.Spec) {
		w.must(s.SetState("a.test", crawlspec.Paused))
		w.must(s.SetState("b.test", crawlspec.Cancelled))
	})
	w.wantSent(w.dispatch(10), "https://c.test/")
	w.wantState("https://a.test/", Queued, "")
	w.wantState("https://b.test/", Excluded, frontierapi.ReasonCancelled)
	w.change(func(s *crawlspec.Spec) {
		w.must(s.SetState("a.test", crawlspec.Running))
		w.must(s.SetState("b.test", crawlspec.Running))
	})
	sent := w.dispatch(10)
	slices.Sort(sent)
	w.wantSent(sent, "https://a.test/", "https://b.test/")
}

func TestCancelledCrawlEnds(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/1", "https://a.test/2")
	w.dispatch(1)
	w.change(func(s *crawlspec.Spec) { s.State = crawlspec.Cancelled })
	w.tend()
	w.link(1, "https://a.test/3")
	w.result("https://a.test/1", nil)
	w.parsed("https://a.test/1")
	w.wantState("https://a.test/2", Excluded, frontierapi.ReasonCancelled)
	w.wantState("https://a.test/3", Excluded, frontierapi.ReasonCancelled)
	if n := w.part.crawls.get("c").Pending(); n != 0 {
		t.Errorf("%d URLs open, want 0", n)
	}
}

// A URL that a rule excludes keeps that reason, whether the crawl is cancelled or not; so does the
// summary.
func TestCancelledCrawlKeepsWhyURLsWereExcluded(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Exclude = []string{"*/private/*"} })
	w.seed("https://a.test/1", "https://a.test/private/1")
	w.link(1, "https://b.test/")
	w.change(func(s *crawlspec.Spec) { s.State = crawlspec.Cancelled })
	w.tend()
	w.wantState("https://a.test/1", Excluded, frontierapi.ReasonCancelled)
	w.wantState("https://a.test/private/1", Excluded, frontierapi.ReasonExclude)
	w.wantState("https://b.test/", Excluded, frontierapi.ReasonScope)
	w.change(func(s *crawlspec.Spec) { s.State, s.Exclude = crawlspec.Running, nil })
	w.tend()
	w.wantState("https://a.test/private/1", Queued, "")
}

func TestPriorityOfRulesGoesBeforeThatOfTheMessage(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.Priorities = []crawlspec.PriorityRule{{Match: "*/news/*", Priority: 0}, {Match: "*/archive/*", Priority: 9}}
	})
	w.seed("https://a.test/")
	w.link(1, "https://a.test/archive/1", "https://a.test/1", "https://a.test/news/1")
	w.wantSent(w.dispatch(10), "https://a.test/news/1", "https://a.test/", "https://a.test/1", "https://a.test/archive/1")
	w.link(1, "https://a.test/2", "https://a.test/3")
	w.change(func(s *crawlspec.Spec) { s.Priorities = []crawlspec.PriorityRule{{Match: "*/3", Priority: 1}} })
	w.wantSent(w.dispatch(10), "https://a.test/3", "https://a.test/2")
}

func TestKnownURLTakesABetterPriority(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/1", "https://a.test/2")
	first := 0
	m := &messages.Candidates{Crawl: "c", Source: messages.SourceSeed, URLs: []messages.Candidate{{URL: "https://a.test/2", Priority: &first}}}
	_, err := w.part.ApplyCandidates(m, 1, w.at())
	w.must(err)
	w.must(w.part.Commit(w.at()))
	w.wantSent(w.dispatch(10), "https://a.test/2", "https://a.test/1")
}

func TestPagesPerHost(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.MaxPagesPerHost = 2 })
	w.seed("https://a.test/1", "https://a.test/2", "https://a.test/3", "https://b.test/1")
	sent := w.dispatch(10)
	slices.Sort(sent)
	w.wantSent(sent, "https://a.test/1", "https://a.test/2", "https://b.test/1")
	w.result("https://a.test/1", class(messages.Gone)) // not a page
	w.wantSent(w.dispatch(10), "https://a.test/3")
	w.result("https://a.test/2", nil)
	w.result("https://a.test/3", nil)
	w.seed("https://a.test/4")
	w.wantState("https://a.test/4", Excluded, frontierapi.ReasonHostPages)
}

func TestBytesAndTimeAreBudgets(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.MaxBytes, s.PerHost = 1000, 1 })
	w.seed("https://a.test/1", "https://a.test/2", "https://a.test/3")
	w.wantSent(w.dispatch(10), "https://a.test/1")
	w.result("https://a.test/1", func(r *messages.Result) { r.BytesWire = 600 })
	w.wantSent(w.dispatch(10), "https://a.test/2")
	w.result("https://a.test/2", func(r *messages.Result) { r.BytesWire = 600 })
	w.wantSent(w.dispatch(10))

	w = newPartitionFixture(t, func(s *crawlspec.Spec) { s.MaxDuration, s.PerHost = 10*second, 1 })
	w.seed("https://a.test/1", "https://a.test/2")
	w.wantSent(w.dispatch(10), "https://a.test/1")
	w.pass(10 * time.Second)
	w.result("https://a.test/1", nil)
	w.wantSent(w.dispatch(10))
	w.change(func(s *crawlspec.Spec) { s.MaxDuration = 0 })
	w.wantSent(w.dispatch(10), "https://a.test/2")
}

func TestURLGuardsExcludeWithTheirReason(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Traps.MaxPathDepth = 3 })
	w.seed("https://a.test/")
	w.link(1, "https://a.test/1/2/3", "https://a.test/1/2/3/4")
	w.wantState("https://a.test/1/2/3", Queued, "")
	w.wantState("https://a.test/1/2/3/4", Excluded, string(traps.PathDepth))
	w.seed("https://a.test/1/2/3/5") // a person knows better
	w.wantState("https://a.test/1/2/3/5", Queued, "")
	w.change(func(s *crawlspec.Spec) { s.Traps.MaxPathDepth = 0 })
	w.tend()
	w.wantState("https://a.test/1/2/3/4", Queued, "")
}

func TestPageIsVisitedAgainByItsRule(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.Recrawl = []crawlspec.RecrawlRule{{Match: "*/news", Every: 3600 * second}}
	})
	w.seed("https://a.test/news", "https://a.test/about")
	w.dispatch(10)
	for _, u := range []string{"https://a.test/news", "https://a.test/about"} {
		w.result(u, func(r *messages.Result) {
			r.ETag, r.LastModified, r.Digest = `"1"`, "then", "00112233445566778899aabbccddeeff"
		})
		w.parsed(u)
	}
	if c := w.part.crawls.get("c"); c.Pending() != 0 || c.Planned != 1 {
		t.Fatalf("counted %+v, want one planned", c.Counters)
	}
	w.pass(time.Hour - time.Second)
	w.wantSent(w.dispatch(10))
	w.restart()
	w.pass(5 * time.Minute)
	w.wantSent(w.dispatch(10), "https://a.test/news")
	req := w.part.urls.inFlight[urlID{"c", messages.HashURL("https://a.test/news")}]
	m, err := w.part.Requests.Message(req)
	w.must(err)
	if m.Visit.Round != 2 || m.Attempt != 1 || m.ETag != `"1"` || m.LastModified != "then" {
		t.Errorf("sent %+v, want round 2 with the validators", m)
	}
	w.result("https://a.test/news", class(messages.NotModified))
	w.wantState("https://a.test/news", Done, "")
	if c := w.part.crawls.get("c"); c.Planned != 1 {
		t.Errorf("counted %+v, want one planned", c.Counters)
	}
}

// A request says what the last page was, if the spec drops unchanged pages. A page that was gone
// counts as new.
func TestRequestTellsWhatThePageWasIfUnchangedPagesAreDropped(t *testing.T) {
	for _, unchanged := range []crawlspec.Unchanged{crawlspec.UnchangedKeep, crawlspec.UnchangedDrop} {
		w := newPartitionFixture(t, func(s *crawlspec.Spec) {
			s.Recrawl = []crawlspec.RecrawlRule{{Match: "*", Every: 3600 * second}}
			s.Duplicates.Unchanged = unchanged
		})
		u := "https://a.test/"
		w.seed(u)
		for n, visit := range []struct{ class, told string }{
			{"ok", ""}, {"ok", "00112233445566778899aabbccddeeff"[:16]}, {"gone", "00112233445566778899aabbccddeeff"[:16]}, {"ok", ""},
		} {
			w.pass(100 * time.Hour)
			w.wantSent(w.dispatch(10), u)
			m, err := w.part.Requests.Message(w.part.urls.inFlight[urlID{"c", messages.HashURL(u)}])
			w.must(err)
			want := visit.told
			if unchanged == crawlspec.UnchangedKeep {
				want = ""
			}
			if m.Digest != want {
				t.Errorf("%s: visit %d is told of %q, want %q", unchanged, n+1, m.Digest, want)
			}
			w.result(u, func(r *messages.Result) {
				if r.Class = messages.Class(visit.class); r.Class == messages.OK {
					r.Digest = "00112233445566778899aabbccddeeff"
				}
			})
			if visit.class == "ok" {
				ends := messages.Visit{URL: messages.HashURL(u), Round: uint64(n + 1)}
				_, err = w.part.ApplyCandidates(&messages.Candidates{Crawl: "c", Source: messages.SourceLink, Ends: ends}, 1, w.at())
				w.must(err)
				w.must(w.part.Commit(w.at()))
			}
		}
	}
}

func TestIntervalFollowsHowOftenAPageChanges(t *testing.T) {
	hour := 3600 * second
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Recrawl = []crawlspec.RecrawlRule{{Match: "*", Min: hour, Max: 16 * hour}} })
	u := "https://a.test/"
	w.seed(u)
	visit := func(digest int) time.Duration {
		w.pass(100 * time.Hour)
		w.wantSent(w.dispatch(10), u)
		w.result(u, func(r *messages.Result) { r.Digest = fmt.Sprintf("%016x%016x", digest, 0) })
		r, err := w.part.urls.record(urlID{"c", messages.HashURL(u)})
		w.must(err)
		round := r.Round
		_, err = w.part.ApplyCandidates(&messages.Candidates{Crawl: "c", Source: messages.SourceLink, Ends: messages.Visit{URL: messages.HashURL(u), Round: round}}, 1, w.at())
		w.must(err)
		w.must(w.part.Commit(w.at()))
		return time.Duration(r.Interval)
	}
	digests := []int{1, 1, 1, 1, 2, 3, 4, 5, 6}
	want := []string{"4h", "6h", "9h", "13h30m", "6h45m", "3h22m30s", "1h41m15s", "1h", "1h"}
	for i, d := range digests {
		if got, _ := time.ParseDuration(want[i]); visit(d) != got {
			t.Errorf("visit %d: not %s", i, want[i])
		}
	}
}

func TestScheduleStartsTheCrawlAgainOnce(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Schedule = "@every 6h" })
	w.seed("https://a.test/")
	round := func(n uint64, run int64) {
		t.Helper()
		w.wantSent(w.dispatch(10), "https://a.test/")
		req := w.part.urls.inFlight[urlID{"c", messages.HashURL("https://a.test/")}]
		if req.Round != n {
			t.Errorf("round %d, want %d", req.Round, n)
		}
		w.result("https://a.test/", nil)
		// The link on it is visited again too.
		m := &messages.Candidates{
			Crawl: "c", Source: messages.SourceLink, Depth: 1, Run: run, URLs: []messages.Candidate{{URL: "https://a.test/x"}},
			Ends: messages.Visit{URL: messages.HashURL("https://a.test/"), Round: n},
		}
		for range 2 {
			_, err := w.part.ApplyCandidates(m, 1, w.at())
			w.must(err)
			w.must(w.part.Commit(w.at()))
		}
		w.wantSent(w.dispatch(10), "https://a.test/x")
		w.result("https://a.test/x", nil)
		_, err := w.part.ApplyCandidates(&messages.Candidates{Crawl: "c", Source: messages.SourceLink, Ends: messages.Visit{URL: messages.HashURL("https://a.test/x"), Round: n}}, 1, w.at())
		w.must(err)
		w.must(w.part.Commit(w.at()))
	}
	round(1, 0)
	next, err := w.spec.NextRun(w.now)
	w.must(err)
	w.pass(next.Sub(w.now) - 1)
	w.wantSent(w.dispatch(10))
	w.pass(1)
	round(2, next.Unix())
	w.restart()
	w.wantSent(w.dispatch(10)) // nothing twice
	// One run makes up for three missed starts.
	w.pass(20 * time.Hour)
	last := next.Add(18 * time.Hour)
	round(3, last.Unix())
	w.wantSent(w.dispatch(10))
}

func TestDomainsCanShareAPace(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Delay, s.GroupBy = second, crawlspec.GroupByDomain })
	w.seed("https://a.example.org/", "https://b.example.org/", "https://other.test/")
	w.wantSent(w.dispatch(10), "https://a.example.org/", "https://other.test/")
	w.result("https://a.example.org/", nil)
	w.wantSent(w.dispatch(10))
	w.pass(time.Second)
	w.wantSent(w.dispatch(10), "https://b.example.org/")
}

func TestAddressesCanShareAPace(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Delay, s.GroupBy = second, crawlspec.GroupByIP })
	w.pass(time.Minute)
	w.seed("https://a.test/1", "https://a.test/2", "https://b.test/1", "https://b.test/2")
	at := func(r *messages.Result) { r.IP = "192.0.2.7" }
	w.wantSent(w.dispatch(10), "https://a.test/1", "https://b.test/1") // their addresses are not known yet
	w.result("https://a.test/1", at)
	w.result("https://b.test/1", at)
	w.pass(time.Second)
	first := w.dispatch(10)
	if len(first) != 1 {
		t.Fatalf("sent %q, want one of the address", first)
	}
	w.result(first[0], at)
	w.pass(999 * time.Millisecond)
	w.wantSent(w.dispatch(10))
	w.pass(time.Second + time.Millisecond)
	if second := w.dispatch(10); len(second) != 1 || second[0] == first[0] {
		t.Errorf("sent %q, want the other host's", second)
	}
}

func TestSourcesHaveTheirOwnPace(t *testing.T) {
	slow := 5 * second
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.Sources = []crawlspec.HostRule{{Hosts: []string{"*.slow.test"}, Delay: &slow}}
	})
	w.seed("https://www.slow.test/1", "https://www.slow.test/2", "https://fast.test/1", "https://fast.test/2")
	w.wantSent(w.dispatch(10), "https://www.slow.test/1", "https://fast.test/1", "https://fast.test/2")
	w.result("https://www.slow.test/1", nil)
	w.pass(5*time.Second - 1)
	w.wantSent(w.dispatch(10))
	w.pass(1)
	w.wantSent(w.dispatch(10), "https://www.slow.test/2")
}

func TestHoursOfTheDay(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Hours = []string{"22:00-06:00"} })
	w.now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	w.seed("https://a.test/")
	w.wantSent(w.dispatch(10))
	w.restart()
	w.pass(10*time.Hour - 1)
	w.wantSent(w.dispatch(10))
	w.pass(1)
	w.wantSent(w.dispatch(10), "https://a.test/")
}

func TestDeadHostIsProbedAndThenGivenUp(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.PerHost, s.MaxAttempts = 1, 100
		s.Breaker = crawlspec.Breaker{Failures: 2, Wait: 60 * second, MaxWait: 120 * second, Probes: 2}
	})
	w.seed("https://a.test/1", "https://a.test/2", "https://a.test/3", "https://b.test/1")
	fail := func() string {
		t.Helper()
		sent := w.dispatch(1)
		if len(sent) != 1 {
			t.Fatalf("sent %q, want one", sent)
		}
		w.result(sent[0], class(messages.ConnectFailure))
		return sent[0]
	}
	fail()
	w.wantSent(w.dispatch(1), "https://b.test/1") // others continue
	w.pass(time.Second)
	fail()
	w.pass(59 * time.Second)
	w.wantSent(w.dispatch(10))
	w.pass(time.Second)
	fail() // the first probe
	w.pass(119 * time.Second)
	w.wantSent(w.dispatch(10))
	w.pass(time.Second)
	fail() // the second
	w.wantSent(w.dispatch(10))
	w.tend()
	for _, u := range []string{"https://a.test/1", "https://a.test/2", "https://a.test/3"} {
		if s, _ := w.state(u); s != Failed && s != Waiting {
			t.Errorf("%s is %v, want failed, or waiting for its next attempt", u, s)
		}
	}
	w.pass(time.Hour) // URLs whose retries are pending learn of it
	w.seed("https://a.test/4")
	if sent := w.dispatch(10); len(sent) != 1 {
		t.Errorf("sent %q, want one probe", sent)
	}
}

func TestBloomFilterOfAnySizeLosesNothing(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/")
	tiny := newSeen()
	tiny.grow()
	tiny.layers[0].ClearAll()
	for i := range tiny.layers[0].BitSet().Len() { // treats everything as known
		tiny.layers[0].BitSet().Set(i)
	}
	w.part.crawls.get("c").seen = tiny
	for i := range 100 {
		w.link(1, fmt.Sprintf("https://a.test/%d", i%50))
	}
	if sent := w.dispatch(1000); len(sent) != 51 {
		t.Errorf("%d URLs were sent, want 51", len(sent))
	}
}

func TestBloomFilterKeepsItsRate(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	s := newSeen()
	url := func(kind string, i int) messages.URLHash {
		return messages.HashURL(fmt.Sprintf("https://h%d.test/%s/%d", i%97, kind, i))
	}
	const n = 300_000
	for i := range n {
		s.add(url("in", i))
	}
	wrong := 0
	for i := range n {
		if !s.has(url("in", i)) {
			t.Fatal("a URL that was added is not known")
		}
		if s.has(url("out", i)) {
			wrong++
		}
	}
	rate := float64(wrong) / n
	t.Logf("false positives: %.5f %% of new URLs, at most %.3f %% by design; %d layers", 100*rate, 200*seenRate, len(s.layers))
	if rate > 2*seenRate {
		t.Errorf("false positive rate %.5f, want at most %.5f", rate, 2*seenRate)
	}
}
