package state

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// partitionFixture is a partition with its own clock, for crawl "c" in partition 0 of 1.
type partitionFixture struct {
	t     *testing.T
	dir   string
	store *Store
	part  *Partition
	spec  crawlspec.Spec
	*machine
	addresses *IPLimiter // of the process

	current *Rules
	gen     uint64
	budget  Budget
	last    *messages.Deletion
}

// Rules and the following methods implement SpecSource.
func (w *partitionFixture) Rules(string, uint64) (*Rules, error) { return w.current, nil }
func (w *partitionFixture) Generation() uint64                   { return w.gen }
func (w *partitionFixture) Revision(string) (uint64, bool)       { return w.current.Rev, true }
func (w *partitionFixture) Seeded(string) bool                   { return len(w.current.Seeds) > 0 }
func (w *partitionFixture) Deletion(string) *messages.Deletion   { return w.last }
func (w *partitionFixture) Known() crawlspec.Progress {
	return crawlspec.Progress{Bucket: 1, Rev: w.gen}
}
func (w *partitionFixture) Changes(uint64) (all []crawlspec.Change) {
	names, err := w.part.crawls.names()
	w.must(err)
	if w.Seeded("") && !slices.Contains(names, "c") {
		names = append(names, "c")
	}
	for _, name := range names {
		all = append(all, crawlspec.Change{Crawl: name, Rev: w.current.Rev})
	}
	return all
}

// change changes the spec of the crawl.
func (w *partitionFixture) change(change func(*crawlspec.Spec)) {
	w.t.Helper()
	spec := w.spec
	change(&spec)
	w.spec = spec
	w.must(spec.Validate())
	w.gen++
	r, err := compile(crawlspec.Revision{Spec: &spec, Rev: w.gen, Time: w.now, Deletion: w.last})
	w.must(err)
	w.current = r
}

func newPartitionFixture(t *testing.T, change func(*crawlspec.Spec)) *partitionFixture {
	w := &partitionFixture{t: t, dir: t.TempDir(), spec: crawlspec.Default(), machine: newMachine(time.Unix(1_800_000_000, 0))}
	w.spec.Delay, w.spec.PerHost = 0, 1000
	if change == nil {
		change = func(*crawlspec.Spec) {}
	}
	w.change(change)
	w.open()
	t.Cleanup(w.kill)
	return w
}

func (w *partitionFixture) open() {
	w.t.Helper()
	store, err := OpenStore(w.dir, 1<<20, SyncOS, nil, slog.New(slog.DiscardHandler))
	w.must(err)
	w.store = store
	clock := w.process()
	if w.addresses == nil {
		w.addresses = NewIPLimiter(clock.Now)
	}
	w.part, err = Open(w.t.Context(), store, Options{
		Partitions: 1, Epoch: 1, Clock: clock, Specs: w, MaxHosts: 256, Addresses: w.addresses, Log: slog.New(slog.DiscardHandler),
	})
	w.must(err)
	awaitLoaded(w.part.crawls.loader, w.part.crawls)
}

// awaitLoaded collects everything that is being loaded.
func awaitLoaded(l *loader, cs *crawls) {
	done := make(chan struct{})
	go func() { l.done.Wait(); close(done) }()
	for {
		select {
		case c := <-l.loaded:
			c.putToUse(cs)
		case <-done:
			l.collect(cs)
			return
		}
	}
}

func (w *partitionFixture) at() int64 { return w.part.time.now() }

// tend runs turns without messages until nothing is due.
func (w *partitionFixture) tend() {
	w.t.Helper()
	for more := true; more; more = w.part.TimersPending() {
		w.step()
	}
}

// step is a turn without a message.
func (w *partitionFixture) step() {
	w.t.Helper()
	w.must(w.part.RunTimers(w.at()))
	w.must(w.part.Commit(w.at()))
}

// kill leaves the store like a killed process: uncommitted changes are lost.
func (w *partitionFixture) kill() {
	if w.part != nil { // otherwise it could not be opened
		w.part.Close()
	}
	_ = w.store.Close()
}

func (w *partitionFixture) restart() {
	w.t.Helper()
	w.kill()
	w.addresses = nil
	w.open()
}

func (w *partitionFixture) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *partitionFixture) pass(d time.Duration) { w.now = w.now.Add(d) }

func (w *partitionFixture) feed(source messages.Source, depth int, urls ...string) {
	w.t.Helper()
	m := &messages.Candidates{Crawl: "c", Rev: w.current.Rev, Source: source, Depth: depth, Referrer: "https://from.test/"}
	for _, u := range urls {
		m.URLs = append(m.URLs, messages.Candidate{URL: u})
	}
	w.forgetDeleted(m.Crawl, m.Rev)
	bad, err := w.part.ApplyCandidates(m, 1, w.at())
	w.must(err)
	if len(bad) > 0 {
		w.t.Fatalf("not taken: %v", bad)
	}
	w.must(w.part.Commit(w.at()))
}

// forgetDeleted is partition.forgetDeleted.
func (w *partitionFixture) forgetDeleted(crawl string, rev uint64) {
	w.t.Helper()
	commit, err := w.part.Removals.Begin(crawl, rev, w.at())
	w.must(err)
	if commit {
		w.must(w.part.Commit(w.at()))
	}
}

func (w *partitionFixture) seed(urls ...string) {
	w.t.Helper()
	w.feed(messages.SourceSeed, 0, urls...)
}
func (w *partitionFixture) link(depth int, urls ...string) {
	w.t.Helper()
	w.feed(messages.SourceLink, depth, urls...)
}

// dispatch returns the URLs sent now, in order.
func (w *partitionFixture) dispatch(room int) []string {
	w.t.Helper()
	w.tend()
	reqs, err := w.part.Dispatcher.Next(w.at(), FetchCapacity{room, room})
	w.must(err)
	w.must(w.part.Commit(w.at()))
	if w.grant() {
		more, err := w.part.Dispatcher.Next(w.at(), FetchCapacity{room - len(reqs), room})
		w.must(err)
		w.must(w.part.Commit(w.at()))
		reqs = append(reqs, more...)
	}
	var urls []string
	for _, r := range reqs {
		urls = append(urls, r.URL)
	}
	return urls
}

// grant extends the grants of the crawl's budgets, if it asked.
func (w *partitionFixture) grant() bool {
	c := w.part.crawls.get("c")
	if !c.quota.want && !c.quota.Over {
		return false
	}
	used := Usage{c.Pages + c.InFlight, c.BytesWire}
	w.budget.StartedMS = c.Started
	before := c.quota
	c.quota.Grant = w.budget.Allot("0", used, true, 1, &w.spec)
	c.unpark = c.quota.Pages > before.Pages || c.quota.Bytes > before.Bytes
	w.tend()
	return true
}

func (w *partitionFixture) result(url string, change func(*messages.Result)) {
	w.t.Helper()
	hash := messages.HashURL(url)
	res := &messages.Result{
		Crawl: "c", URL: url, Visit: messages.Visit{URL: hash, Round: 1}, Class: messages.OK, Status: 200, Attempt: 1,
	}
	if req := w.part.urls.inFlight[urlID{"c", hash}]; req != nil {
		res.Attempt, res.Visit.Round = req.Sent, req.Round
	}
	if change != nil {
		change(res)
	}
	w.must(w.part.ApplyResult(res, w.at()))
	w.must(w.part.Commit(w.at()))
}

func class(c messages.Class) func(*messages.Result) {
	return func(r *messages.Result) { r.Class = c }
}

func (w *partitionFixture) parsed(url string) {
	w.t.Helper()
	m := &messages.Candidates{Crawl: "c", Source: messages.SourceLink, Ends: messages.Visit{URL: messages.HashURL(url), Round: 1}}
	_, err := w.part.ApplyCandidates(m, 1, w.at())
	w.must(err)
	w.must(w.part.Commit(w.at()))
}

func (w *partitionFixture) state(url string) (State, string) {
	w.t.Helper()
	id := urlID{"c", messages.HashURL(url)}
	r, err := w.part.urls.record(id)
	w.must(err)
	if r == nil {
		return 0, "unknown"
	}
	return r.State, r.Reason
}

func (w *partitionFixture) wantState(url string, want State, reason string) {
	w.t.Helper()
	if s, r := w.state(url); s != want || r != reason {
		w.t.Errorf("%s is %v %q, want %v %q", url, s, r, want, reason)
	}
}

func (w *partitionFixture) wantSent(got []string, want ...string) {
	w.t.Helper()
	if !slices.Equal(got, want) {
		w.t.Fatalf("sent %q, want %q", got, want)
	}
}

func TestURLIsSentOnce(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/", "https://a.test/")
	w.seed("https://a.test/")
	w.wantSent(w.dispatch(10), "https://a.test/")
	w.link(1, "https://a.test/")
	w.wantSent(w.dispatch(10))
	w.result("https://a.test/", nil)
	w.wantState("https://a.test/", Parsing, "")
	w.parsed("https://a.test/")
	w.wantState("https://a.test/", Done, "")
	w.restart()
	w.seed("https://a.test/")
	w.wantSent(w.dispatch(10))
}

func TestVisitEndsWhicheverMessageComesLast(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/")
	w.dispatch(1)
	w.parsed("https://a.test/")
	w.wantState("https://a.test/", InFlight, "")
	w.result("https://a.test/", nil)
	w.wantState("https://a.test/", Done, "")
	if n := w.part.crawls.get("c").Pending(); n != 0 {
		t.Errorf("%d URLs open, want 0", n)
	}
}

func TestOrderIsPriorityThenDepthThenArrival(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/0")
	w.link(2, "https://a.test/deep")
	w.link(1, "https://a.test/near1", "https://a.test/near2")
	first := 0
	m := &messages.Candidates{Crawl: "c", Source: messages.SourceLink, Depth: 3, URLs: []messages.Candidate{{URL: "https://a.test/urgent", Priority: &first}}}
	_, err := w.part.ApplyCandidates(m, 1, w.at())
	w.must(err)
	w.wantSent(w.dispatch(10), "https://a.test/urgent", "https://a.test/0", "https://a.test/near1", "https://a.test/near2", "https://a.test/deep")
}

func TestHostsTakeTurns(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/1", "https://a.test/2", "https://a.test/3", "https://b.test/1", "https://b.test/2")
	w.wantSent(w.dispatch(4), "https://a.test/1", "https://b.test/1", "https://a.test/2", "https://b.test/2")
}

func TestDelayIsKeptOverRestarts(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Delay = crawlspec.Duration(time.Second) })
	w.seed("https://a.test/1", "https://a.test/2", "https://a.test/3")
	w.wantSent(w.dispatch(10), "https://a.test/1")
	w.pass(time.Hour)
	w.wantSent(w.dispatch(10)) // the first is still in flight
	w.restart()
	w.wantSent(w.dispatch(10))
	w.result("https://a.test/1", nil)
	w.pass(999 * time.Millisecond)
	w.wantSent(w.dispatch(10))
	w.restart()
	w.wantSent(w.dispatch(10))
	w.pass(time.Millisecond)
	w.wantSent(w.dispatch(10), "https://a.test/2")
}

func TestPerHostBoundsRequestsUnderWay(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.PerHost = 2 })
	w.seed("https://a.test/1", "https://a.test/2", "https://a.test/3", "https://a.test/4")
	w.wantSent(w.dispatch(10), "https://a.test/1", "https://a.test/2")
	w.wantSent(w.dispatch(10))
	w.result("https://a.test/2", nil)
	w.wantSent(w.dispatch(10), "https://a.test/3")
}

func TestCrawlDelayOfRobotsIsKept(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/1", "https://a.test/2")
	w.dispatch(1)
	w.result("https://a.test/1", func(r *messages.Result) {
		d := messages.Millis(5 * time.Second)
		r.Class, r.CrawlDelay = messages.RobotsFetched, &d
	})
	w.pass(4999 * time.Millisecond)
	w.wantSent(w.dispatch(10))
	w.pass(time.Millisecond)
	w.wantSent(w.dispatch(10), "https://a.test/1")
}

// A visit that ends without a request for the page may have requested robots.txt, or a URL that
// redirected to it.
func TestHostRestsAfterAnythingItWasAskedFor(t *testing.T) {
	answered := messages.Timings{FirstByte: messages.Millis(13 * time.Millisecond)}
	resolved := messages.Timings{DNS: messages.Millis(13 * time.Millisecond), Total: messages.Millis(13 * time.Millisecond)}
	for name, c := range map[string]struct {
		result messages.Result
		rests  bool
	}{
		"robots.txt was known":              {messages.Result{Class: messages.RobotsDenied}, false},
		"robots.txt was fetched":            {messages.Result{Class: messages.RobotsDenied, IP: "192.0.2.1"}, true},
		"robots.txt was fetched by a proxy": {messages.Result{Class: messages.RobotsDenied, Timings: answered}, true},
		"address refused":                   {messages.Result{Class: messages.RefusedAddress, Timings: resolved}, false},
		"robots.txt led to such an address": {messages.Result{Class: messages.RefusedAddress, IP: "192.0.2.1"}, true},
		"secret missing":                    {messages.Result{Class: messages.Misconfigured}, false},
		"secret missing after a redirect":   {messages.Result{Class: messages.Misconfigured, IP: "192.0.2.1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Delay = crawlspec.Duration(time.Second) })
			w.seed("https://a.test/1", "https://a.test/2")
			w.dispatch(1)
			w.pass(2 * time.Second)
			w.result("https://a.test/1", func(r *messages.Result) {
				r.Class, r.IP, r.Timings, r.BytesWire = c.result.Class, c.result.IP, c.result.Timings, 0
			})
			if c.rests {
				w.wantSent(w.dispatch(10))
				w.pass(time.Second)
			}
			w.wantSent(w.dispatch(10), "https://a.test/2")
		})
	}
}

func TestRetryAfterParksTheHost(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/1", "https://a.test/2", "https://b.test/")
	w.dispatch(1)
	w.result("https://a.test/1", func(r *messages.Result) {
		r.Class, r.RetryAfter = messages.Throttled, messages.Millis(30*time.Second)
	})
	w.wantSent(w.dispatch(10), "https://b.test/")
	w.pass(30*time.Second - 1)
	w.wantSent(w.dispatch(10))
	w.restart()
	w.pass(1)
	w.wantSent(w.dispatch(1), "https://a.test/2") // the refused URL moves behind
}

func TestFailuresAreRetriedLaterAndThenCount(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.MaxAttempts = 3 })
	w.seed("https://a.test/")
	for attempt := 1; attempt <= 3; attempt++ {
		w.wantSent(w.dispatch(10), "https://a.test/")
		w.result("https://a.test/", func(r *messages.Result) { r.Class, r.Error = messages.ServerError, "503" })
		if attempt == 3 {
			break
		}
		w.wantState("https://a.test/", Waiting, "")
		w.wantSent(w.dispatch(10))
		w.restart()
		w.pass(time.Minute)
	}
	w.wantState("https://a.test/", Failed, "server_error: 503")
	if n := w.part.crawls.get("c").Attempts[messages.ServerError]; n != 3 {
		t.Errorf("%d attempts counted, want 3", n)
	}
}

func TestPermanentResultsEndAtOnce(t *testing.T) {
	for c, want := range map[messages.Class]struct {
		state  State
		reason string
	}{
		messages.Gone: {Failed, "gone"}, messages.Redirect: {Done, ""}, messages.NotModified: {Done, ""},
		messages.RobotsDenied: {Excluded, frontierapi.ReasonRobots}, messages.RefusedAddress: {Excluded, frontierapi.ReasonAddress},
		messages.TooLarge: {Failed, "too_large"}, messages.UnsupportedType: {Excluded, frontierapi.ReasonType},
	} {
		w := newPartitionFixture(t, nil)
		w.seed("https://a.test/")
		w.dispatch(1)
		w.result("https://a.test/", class(c))
		w.wantState("https://a.test/", want.state, want.reason)
	}
}

func TestRepeatedAndLateResultsChangeNothing(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/")
	w.dispatch(1)
	w.result("https://a.test/", nil)
	w.result("https://a.test/", nil)
	w.result("https://a.test/", class(messages.ServerError))
	if c := w.part.crawls.get("c"); c.Pages != 1 || c.Parsing != 1 {
		t.Errorf("counted %+v, want one page", c.Counters)
	}
	// A failure of an abandoned attempt says nothing about the next.
	w.seed("https://b.test/")
	w.dispatch(1)
	req := w.part.urls.inFlight[urlID{"c", messages.HashURL("https://b.test/")}]
	w.part.Requests.resend(req, w.at())
	w.result("https://b.test/", func(r *messages.Result) { r.Class, r.Attempt = messages.Timeout, 1 })
	w.wantState("https://b.test/", InFlight, "")
	w.result("https://b.test/", func(r *messages.Result) { r.Attempt = 1 })
	w.wantState("https://b.test/", Parsing, "")
}

func TestScopeIsTheSeedsHosts(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/")
	w.link(1, "https://a.test/1", "https://www.a.test/", "https://b.test/")
	w.wantState("https://a.test/1", Queued, "")
	w.wantState("https://www.a.test/", Excluded, frontierapi.ReasonScope)
	w.wantState("https://b.test/", Excluded, frontierapi.ReasonScope)
	w.restart()
	w.link(1, "https://a.test/2")
	w.wantState("https://a.test/2", Queued, "")
}

// A sitemap that robots.txt names may be on another host; that does not bring its pages into scope.
func TestScope_SitemapOnOtherHost_Fetched(t *testing.T) {
	const sitemap = "https://cdn.test/map.xml"
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Sitemaps = true })
	w.seed("https://a.test/")
	w.link(1, sitemap)
	w.wantState(sitemap, Excluded, frontierapi.ReasonScope)
	named := &messages.Candidates{Source: messages.SourceLink, URLs: []messages.Candidate{{URL: sitemap, Sitemap: true}}}
	w.take(named)
	w.wantState(sitemap, Queued, "")
	w.link(1, "https://cdn.test/page", "https://a.test/page")
	w.wantState("https://cdn.test/page", Excluded, frontierapi.ReasonScope)
	w.wantState("https://a.test/page", Queued, "")
}

func TestScopeDomainAndAny(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Scope = crawlspec.ScopeDomain })
	w.seed("https://www.a.test/")
	w.link(1, "https://x.a.test/", "https://b.test/")
	w.wantState("https://x.a.test/", Queued, "")
	w.wantState("https://b.test/", Excluded, frontierapi.ReasonScope)
	w = newPartitionFixture(t, func(s *crawlspec.Spec) { s.Scope = crawlspec.ScopeAny })
	w.link(1, "https://b.test/")
	w.wantState("https://b.test/", Queued, "")
}

func TestSeedAdmitsWhatWasFoundOnItsHostBefore(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/")
	w.link(1, "https://b.test/1", "https://b.test/2")
	w.seed("https://b.test/2")
	w.tend()
	w.wantState("https://b.test/1", Queued, "")
	w.wantState("https://b.test/2", Queued, "")
	w.wantSent(w.dispatch(10), "https://a.test/", "https://b.test/2", "https://b.test/1")
}

func TestRedirectOfASeedOpensItsTarget(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/")
	w.feed(messages.SourceRedirect, 0, "https://www.a.test/")
	w.feed(messages.SourceRedirect, 1, "https://elsewhere.test/")
	w.wantState("https://www.a.test/", Queued, "")
	w.wantState("https://elsewhere.test/", Excluded, frontierapi.ReasonScope)
}

func TestRulesExcludeWithTheirReason(t *testing.T) {
	depth := 2
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.MaxDepth, s.Include, s.Exclude = &depth, []string{"*/docs/*"}, []string{`re:\.pdf$`}
	})
	w.seed("https://a.test/")
	w.link(1, "https://a.test/docs/1", "https://a.test/blog/1", "https://a.test/docs/x.pdf")
	w.link(3, "https://a.test/docs/far")
	w.wantState("https://a.test/", Queued, "")
	w.wantState("https://a.test/docs/1", Queued, "")
	w.wantState("https://a.test/blog/1", Excluded, frontierapi.ReasonInclude)
	w.wantState("https://a.test/docs/x.pdf", Excluded, frontierapi.ReasonExclude)
	w.wantState("https://a.test/docs/far", Excluded, frontierapi.ReasonDepth)
	w.link(2, "https://a.test/docs/far") // found nearer
	w.wantState("https://a.test/docs/far", Queued, "")
	if ex := w.part.crawls.get("c").Excluded; len(ex) != 2 || ex[frontierapi.ReasonDepth] != 0 {
		t.Errorf("excluded %v, want one each for include and exclude", ex)
	}
}

func TestSeedThatFailedOrWasExcludedIsTriedAgainWhenFedAgain(t *testing.T) {
	for _, c := range []messages.Class{messages.Gone, messages.RefusedAddress, messages.RobotsDenied} {
		w := newPartitionFixture(t, nil)
		w.seed("https://a.test/")
		w.dispatch(1)
		w.result("https://a.test/", class(c))
		w.link(1, "https://a.test/") // a link is not a reason
		w.wantSent(w.dispatch(10))
		w.seed("https://a.test/")
		w.wantSent(w.dispatch(10), "https://a.test/")
		w.result("https://a.test/", nil)
		w.wantState("https://a.test/", Parsing, "")
		if n := w.part.crawls.get("c").Known(); n != 1 {
			t.Errorf("%d URLs known, want 1", n)
		}
	}
}

func TestURLFoundNearerMovesUp(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/")
	w.link(3, "https://a.test/x")
	w.link(2, "https://a.test/y")
	w.link(1, "https://a.test/x")
	w.wantSent(w.dispatch(10), "https://a.test/", "https://a.test/x", "https://a.test/y")
}

func TestMaxPagesIsMetExactly(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.MaxPages = 3 })
	w.seed("https://a.test/1", "https://a.test/2", "https://a.test/3", "https://a.test/4", "https://a.test/5")
	w.wantSent(w.dispatch(10), "https://a.test/1", "https://a.test/2", "https://a.test/3")
	w.result("https://a.test/1", nil)
	w.result("https://a.test/2", class(messages.Gone)) // not a page: its share is free again
	w.wantSent(w.dispatch(10), "https://a.test/4")
	w.restart()
	w.wantSent(w.dispatch(10))
	w.result("https://a.test/3", nil)
	w.result("https://a.test/4", nil)
	w.wantSent(w.dispatch(10))
	if c := w.part.crawls.get("c"); c.Pages != 3 || c.Queued != 1 {
		t.Errorf("counted %+v, want 3 pages and 1 queued", c.Counters)
	}
}

func TestCandidatesThatDoNotBelongAreReturned(t *testing.T) {
	w := newPartitionFixture(t, nil)
	m := &messages.Candidates{Crawl: "c", Source: messages.SourceSeed, URLs: []messages.Candidate{
		{URL: "HTTP://A.test"}, {URL: "mailto:x@a.test"}, {URL: "https://a.test/ok"},
	}}
	bad, err := w.part.ApplyCandidates(m, 1, w.at())
	w.must(err)
	w.must(w.part.Commit(w.at()))
	if len(bad) != 1 {
		t.Errorf("returned %v, want the one that is no http URL", bad)
	}
	w.wantState("http://a.test/", Queued, "") // canonicalised
	w.wantState("https://a.test/ok", Queued, "")
}

// Each URL of a queue that is much longer than its window comes out once, in order, whatever
// happens in between and wherever the process dies.
func TestLongQueueComesOutOnceEach(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	w := newPartitionFixture(t, nil)
	rng := rand.New(rand.NewPCG(1, 2))
	sent := make(map[string]int)
	n := 0
	w.seed("https://a.test/")
	for step := 0; step < 200; step++ {
		switch rng.IntN(10) {
		case 0, 1, 2:
			var urls []string
			for range rng.IntN(300) {
				n++
				urls = append(urls, fmt.Sprintf("https://a.test/%d", n))
			}
			w.link(1+rng.IntN(3), urls...)
		case 3:
			w.restart()
		default:
			for _, u := range w.dispatch(rng.IntN(400)) {
				sent[u]++
				w.result(u, nil)
			}
		}
		w.pass(time.Millisecond)
	}
	for more := w.dispatch(1000); len(more) > 0; more = w.dispatch(1000) {
		for _, u := range more {
			sent[u]++
			w.result(u, nil)
		}
	}
	for u, times := range sent {
		if times != 1 {
			t.Errorf("%s was sent %d times", u, times)
		}
	}
	if len(sent) != n+1 {
		t.Errorf("%d URLs were sent, want %d", len(sent), n+1)
	}
}

func TestRecordSurvivesItsEncoding(t *testing.T) {
	r := &urlRecord{
		URL: "https://a.test/é", Referrer: "https://b.test/", State: Waiting, Priority: 9, Seed: true, Gate: true, Recorded: true, Parsed: 2, Round: 3, Sent: 7,
		Failures: 2, Depth: 65535, Redirects: 4, Reason: "why", Arrival: 1 << 60, Due: -5, Changed: 1 << 50, Run: 1 << 33, SentRun: 7,
		lastVisit: lastVisit{
			Status: 503, Class: messages.Throttled, ETag: `W/"x"`, LastModified: "yesterday", Digest: 1 << 63, Content: 12,
			Interval: 1 << 45, History: []attempt{{At: 5, Class: messages.OK, Status: 200, Took: 12}},
		},
	}
	got, err := decodeRecord(r.Encode(nil))
	if err != nil || !reflect.DeepEqual(got, r) {
		t.Fatalf("decoded %+v, %v; want %+v", got, err, r)
	}
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add((&urlRecord{URL: "https://a.test/", State: Queued}).Encode(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeRecord(b)
		if err != nil {
			return
		}
		again, err := decodeRecord(r.Encode(nil))
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("%+v became %+v, %v", r, again, err)
		}
	})
}
