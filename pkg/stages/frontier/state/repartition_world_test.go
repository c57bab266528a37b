package state

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// partitionsWorld is all partitions of a small cluster in one store, with three crawls:
// "shop" has a budget and plans visits, "news" has a schedule, groups by domain and keeps
// links, "rest" gets metadata and is paused in the end.
type partitionsWorld struct {
	t testing.TB
	*machine
	clock   *Clock
	dir     string
	store   *Store
	parts   []*Partition
	rules   map[string]*Rules
	gen     uint64
	budgets map[string]*Budget
	random  *rand.Rand
	hosts   int
	fed     int
	last    map[string]*messages.Deletion
}

// Rules and the rest make the world its partitions' SpecSource.
func (w *partitionsWorld) Rules(crawl string, _ uint64) (*Rules, error) { return w.rules[crawl], nil }
func (w *partitionsWorld) Generation() uint64                           { return w.gen }
func (w *partitionsWorld) Revision(crawl string) (uint64, bool)         { return w.rules[crawl].Rev, true }
func (w *partitionsWorld) Seeded(crawl string) bool                     { return len(w.rules[crawl].Seeds) > 0 }
func (w *partitionsWorld) Deletion(crawl string) *messages.Deletion     { return w.last[crawl] }
func (w *partitionsWorld) Known() crawlspec.Progress {
	return crawlspec.Progress{Bucket: 1, Rev: w.gen}
}
func (w *partitionsWorld) Changes(uint64) (all []crawlspec.Change) {
	for name, r := range w.rules {
		all = append(all, crawlspec.Change{Crawl: name, Rev: r.Rev})
	}
	return all
}

func (w *partitionsWorld) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// spec gives a crawl a spec.
func (w *partitionsWorld) spec(crawl string, change func(*crawlspec.Spec)) {
	w.t.Helper()
	spec := crawlspec.Default()
	if r := w.rules[crawl]; r != nil {
		spec = *r.Spec
	}
	change(&spec)
	w.must(spec.Validate())
	w.gen++
	r, err := compile(crawlspec.Revision{Spec: &spec, Rev: w.gen, Time: w.now, Deletion: w.last[crawl]})
	w.must(err)
	w.rules[crawl] = r
}

func newPartitionsWorld(t testing.TB, partitions, hosts int) *partitionsWorld {
	w := &partitionsWorld{
		t: t, machine: newMachine(time.Unix(1_800_000_000, 0)), dir: t.TempDir(), rules: make(map[string]*Rules),
		budgets: make(map[string]*Budget), random: rand.New(rand.NewPCG(1, 2)), hosts: hosts, last: make(map[string]*messages.Deletion),
	}
	w.spec("shop", func(s *crawlspec.Spec) {
		s.MaxPages, s.Scope = 1<<40, crawlspec.ScopeAny
		s.Recrawl = []crawlspec.RecrawlRule{{Match: "*/0*", Every: crawlspec.Duration(24 * time.Hour)}}
	})
	w.spec("news", func(s *crawlspec.Spec) { s.Schedule, s.GroupBy = "0 3 * * *", crawlspec.GroupByDomain })
	w.spec("rest", func(s *crawlspec.Spec) { s.Delay = crawlspec.Duration(3 * time.Second) })
	w.clock = w.process()
	w.store = w.openStore(w.dir)
	w.open(partitions)
	return w
}

func (w *partitionsWorld) openStore(dir string) *Store {
	w.t.Helper()
	s, err := OpenStore(dir, 64<<20, SyncOS, nil, slog.New(slog.DiscardHandler))
	w.must(err)
	w.t.Cleanup(func() { _ = s.Close() })
	return s
}

// open opens all partitions of the store.
func (w *partitionsWorld) open(n int) {
	w.t.Helper()
	addresses := NewIPLimiter(w.clock.Now)
	w.parts = nil
	for p := range n {
		s, err := Open(w.t.Context(), w.store, Options{
			Partition: p, Partitions: n, Epoch: 1, Clock: w.clock, Specs: w, MaxHosts: 1024, Recent: 1 << 20, Addresses: addresses, Log: slog.New(slog.DiscardHandler),
		})
		w.must(err)
		awaitLoaded(s.loader, s)
		w.parts = append(w.parts, s)
	}
}

func (w *partitionsWorld) close() {
	for _, s := range w.parts {
		s.Close()
	}
	w.parts = nil
}

// url is one of a host, and hosts of a domain come in threes.
func (w *partitionsWorld) url(host, page int) string {
	domain := fmt.Sprintf("d%d.test", host/3)
	name := [...]string{"", "www.", "shop."}[host%3] + domain
	switch page % 20 {
	case 3:
		return fmt.Sprintf("https://%s/p?b=%d&a=%d", name, page, page) // in another order than the sorted one
	case 4:
		return fmt.Sprintf("http://%s:8080/%d", name, page)
	}
	return fmt.Sprintf("https://%s/%d/%d", name, page%10, page)
}

// deliver applies candidates, each in the partition that it belongs to.
func (w *partitionsWorld) deliver(m messages.Candidates, urls ...messages.Candidate) {
	w.t.Helper()
	m.Rev = w.rules[m.Crawl].Rev
	for p, of := range w.split(urls) {
		part := m
		part.URLs = of
		bad, err := w.parts[p].ApplyCandidates(&part, len(w.parts), w.parts[p].Now())
		w.must(err)
		if len(bad) > 0 {
			w.t.Fatalf("not taken: %v", bad)
		}
	}
}

func (w *partitionsWorld) split(urls []messages.Candidate) map[int][]messages.Candidate {
	of := make(map[int][]messages.Candidate)
	for _, u := range urls {
		p := messages.Partition(u.URL, len(w.parts))
		of[p] = append(of[p], u)
	}
	return of
}

// commit ends a turn of all partitions.
func (w *partitionsWorld) commit() {
	w.t.Helper()
	for _, s := range w.parts {
		w.must(s.Commit(s.Now()))
	}
}

// tend does in all partitions what is due without a message.
func (w *partitionsWorld) tend() {
	w.t.Helper()
	for _, s := range w.parts {
		for more := true; more; more = s.TimersPending() {
			w.must(s.RunTimers(s.Now()))
			w.must(s.Commit(s.Now()))
		}
	}
}

// grant gives crawls of their budgets.
func (w *partitionsWorld) grant() {
	for p, s := range w.parts {
		for _, ask := range s.BudgetRequests() {
			doc := w.budgets[ask.Crawl]
			if doc == nil {
				doc = &Budget{StartedMS: 1}
				w.budgets[ask.Crawl] = doc
			}
			s.ApplyGrant(&BudgetAnswer{BudgetRequest: ask, Grant: doc.Allot(fmt.Sprint(p), ask.Used, ask.More, len(w.parts), ask.Spec.Spec)})
		}
	}
}

// sentURL is a request of one partition.
type sentURL struct {
	*messages.Request
	p int
}

// dispatch takes what is due, so much from each partition.
func (w *partitionsWorld) dispatch(room int) (all []sentURL) {
	w.t.Helper()
	w.tend()
	for range 2 { // the first may have asked for budgets
		for p, s := range w.parts {
			reqs, err := s.Dispatch(s.Now(), Room{room, room})
			w.must(err)
			for _, r := range reqs {
				wire, err := s.Message(r)
				w.must(err)
				w.fed++
				s.MarkSent(wire, uint64(w.fed))
				all = append(all, sentURL{wire, p})
			}
		}
		w.grant()
		w.tend()
	}
	w.commit()
	return all
}

// answer ends a request, in a way that its number says; some never end.
func (w *partitionsWorld) answer(r sentURL, n int) {
	w.t.Helper()
	res := &messages.Result{
		Crawl: r.Crawl, Rev: r.Rev, URL: r.URL, Visit: r.Visit, Attempt: r.Attempt, Run: r.Run, Class: messages.OK, Status: 200,
		BytesWire: int64(n), BytesBody: int64(2 * n), ETag: `"x"`, Digest: fmt.Sprintf("%016x", n+1), IP: "192.0.2.1",
	}
	if n%50 == 0 {
		return // it is under way
	}
	switch n % 16 {
	case 1, 2:
		res.Class, res.Status = messages.Timeout, 0
	case 3:
		res.Class, res.Status = messages.Gone, 404
	case 4:
		res.Class, res.Status, res.RetryAfter = messages.Throttled, 429, 60_000
	case 5:
		res.Class, res.Status = messages.RobotsDenied, 0
	}
	s := w.parts[r.p]
	w.must(s.ApplyResult(res, s.Now()))
	if res.Class != messages.OK || n%16 == 6 {
		return // or the page is being parsed
	}
	w.parse(r, n)
}

// parse ends the visit of a page, with what it led to.
func (w *partitionsWorld) parse(r sentURL, n int) {
	w.t.Helper()
	m := messages.Candidates{
		Crawl: r.Crawl, Source: messages.SourceLink, Referrer: r.URL, Depth: r.Depth + 1, Run: r.Run,
		PageRound: r.Visit.Round, PageDepth: r.Depth, Metadata: r.Metadata, Inherit: r.Inherit,
	}
	var urls []messages.Candidate
	for range 8 {
		urls = append(urls, messages.Candidate{URL: w.url(w.random.IntN(w.hosts), w.random.IntN(40))})
	}
	parts := make(map[int]int)
	for p, of := range w.split(urls) {
		part := m
		part.URLs, part.PagePart = of, parts[p]
		part.Rev = w.rules[m.Crawl].Rev
		_, err := w.parts[p].ApplyCandidates(&part, len(w.parts), w.parts[p].Now())
		w.must(err)
	}
	end := messages.Candidates{
		Crawl: r.Crawl, Rev: w.rules[m.Crawl].Rev, Source: messages.SourceLink, Run: r.Run, Ends: r.Visit, Content: uint64(n),
		Records: []messages.KindCount{{Kind: "page", N: 1}},
	}
	if n%16 == 7 {
		end.ParseError = "it is broken"
	}
	_, err := w.parts[r.p].ApplyCandidates(&end, len(w.parts), w.parts[r.p].Now())
	w.must(err)
}

// live has so many pages of each host fed to the crawls, and works on them for a while.
func (w *partitionsWorld) live(pages, turns int) {
	w.t.Helper()
	for h := range w.hosts {
		w.deliver(messages.Candidates{Crawl: "shop", Source: messages.SourceSeed}, messages.Candidate{URL: w.url(h, 0)})
		if h%2 == 0 {
			w.deliver(messages.Candidates{Crawl: "news", Source: messages.SourceSeed}, messages.Candidate{URL: w.url(h, 0)})
		}
		if h%5 == 0 {
			w.deliver(messages.Candidates{Crawl: "rest", Source: messages.SourceSeed},
				messages.Candidate{URL: w.url(h, 0), Metadata: messages.Metadata{"customer": fmt.Sprint(h % 7)}, Inherit: true})
		}
		var urls []messages.Candidate
		for page := range pages {
			u := messages.Candidate{URL: w.url(h, page)}
			if page%7 == 0 {
				u.Priority = new(page % 10)
			}
			urls = append(urls, u)
		}
		w.deliver(messages.Candidates{Crawl: "shop", Source: messages.SourceLink, Referrer: w.url(h, 0), Depth: 1}, urls...)
		if h%64 == 63 || h == w.hosts-1 {
			w.commit()
		}
	}
	for n, turn := 0, 0; turn < turns; turn++ {
		for _, r := range w.dispatch(w.hosts) {
			n++
			w.answer(r, n)
		}
		w.commit()
		w.now = w.now.Add(7 * time.Second)
	}
}

// totals are what all partitions together say of each crawl.
func (w *partitionsWorld) totals() map[string]frontierapi.Counters {
	w.t.Helper()
	all := make(map[string]frontierapi.Counters)
	for _, s := range w.parts {
		of, _, err := s.Totals()
		w.must(err)
		for name, n := range of {
			sum := all[name]
			sum.Add(&n)
			all[name] = sum
		}
	}
	return all
}
