package state

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"seine/internal/frontier/table"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// site answers the requests of a fixture like a small site with validators: it does not send a page
// that is unchanged since the round of its validator.
type site struct {
	*partitionFixture
	links   map[string][]string // by page
	changed map[string]bool     // since the last run
	asked   []string
	whole   []string // of asked, those with unconditional requests
}

// crawl runs the crawl until it has nothing to do now.
func (s *site) crawl() {
	s.t.Helper()
	s.asked, s.whole = nil, nil
	for urls := s.dispatch(100); len(urls) > 0; urls = s.dispatch(100) {
		for _, url := range urls {
			s.answer(url)
		}
	}
	slices.Sort(s.asked)
	clear(s.changed)
}

func (s *site) answer(url string) {
	s.t.Helper()
	req, err := s.part.Requests.Message(s.part.urls.inFlight[urlID{"c", messages.HashURL(url)}])
	s.must(err)
	s.asked = append(s.asked, url)
	if req.ETag == "" {
		s.whole = append(s.whole, url)
	}
	c := &messages.Candidates{Crawl: "c", Rev: req.Rev, Referrer: url, Run: req.Run, PageRound: req.PageRound}
	same := req.ETag != "" && !s.changed[url]
	if same {
		c.Source, c.Depth = messages.SourceUnchanged, req.Depth
		if req.PageRound != 0 {
			s.takes(c)
		}
		s.result(url, class(messages.NotModified))
		return
	}
	s.result(url, func(r *messages.Result) { r.ETag, r.Digest = "e", "0123456789abcdef" })
	c.Source, c.Depth, c.Ends, c.PageRound = messages.SourceLink, req.Depth+1, req.Visit, 0
	if s.spec.KeepsLinks(&messages.Page{Header: map[string][]string{"Etag": {"e"}}}) {
		c.PageRound, c.PageDepth = req.Visit.Round, req.Depth
	}
	for _, to := range s.links[url] {
		c.URLs = append(c.URLs, messages.Candidate{URL: to})
	}
	s.takes(c)
}

func (s *site) takes(c *messages.Candidates) {
	s.t.Helper()
	_, err := s.part.ApplyCandidates(c, 1, s.at())
	s.must(err)
	s.must(s.part.Commit(s.at()))
}

func (s *site) wantAsked(want ...string) {
	s.t.Helper()
	if slices.Sort(want); !slices.Equal(s.asked, want) {
		s.t.Errorf("asked %q, want %q", s.asked, want)
	}
}

func newSite(t *testing.T, change func(*crawlspec.Spec), links map[string][]string) *site {
	return &site{partitionFixture: newPartitionFixture(t, change), links: links, changed: make(map[string]bool)}
}

func everyHour(s *crawlspec.Spec) { s.Schedule = "@every 1h" }

// The pages behind unchanged pages are requested in every run, once, conditionally. Pages that the
// newest version does not link to are not.
func TestRunGoesOnBehindUnchangedPages(t *testing.T) {
	const root, a, b, c = "https://a.test/", "https://a.test/a", "https://a.test/b", "https://a.test/c"
	s := newSite(t, everyHour, map[string][]string{root: {a}, a: {b, root}, b: {a, c}})
	s.seed(root)
	s.crawl()
	s.wantAsked(root, a, b, c)
	for range 3 {
		s.pass(time.Hour)
		s.crawl()
		s.wantAsked(root, a, b, c)
		if len(s.whole) > 0 {
			t.Errorf("%q were asked without validators", s.whole)
		}
		s.restart()
	}
	s.links[a], s.changed[a] = []string{c}, true // b has no more links to it
	for range 2 {
		s.pass(time.Hour)
		s.crawl()
		s.wantAsked(root, a, c)
	}
	s.changed[b], s.links[a], s.changed[a] = true, []string{b}, true
	s.links[b] = nil
	for range 2 {
		s.pass(time.Hour)
		s.crawl()
		s.wantAsked(root, a, b)
	}
}

// The links of pages that came before the crawl had a schedule are unknown, and so are those that
// other rules would find: such a page is requested unconditionally once.
func TestPageWhoseLinksAreNotKnownIsAskedForWhole(t *testing.T) {
	const root, a = "https://a.test/", "https://a.test/a"
	s := newSite(t, nil, map[string][]string{root: {a}})
	s.seed(root)
	s.crawl()
	next := func(whole ...string) {
		t.Helper()
		s.pass(time.Hour)
		s.crawl()
		s.wantAsked(root, a)
		if !slices.Equal(s.whole, whole) {
			t.Errorf("%q were asked without validators, want %q", s.whole, whole)
		}
	}
	s.change(everyHour)
	s.tend()
	next(root, a)
	next()
	s.change(func(spec *crawlspec.Spec) { spec.Links.NoFollow = crawlspec.RobotsIgnore })
	next(root, a)
	next()
	s.change(func(spec *crawlspec.Spec) { spec.Delay = crawlspec.Duration(time.Millisecond) })
	s.tend()
	s.change(func(spec *crawlspec.Spec) { spec.Delay = 0 })
	next()
}

// A former owner's result that a page is unchanged does not show that its run has the page's links.
// That run requests the complete page, or the stored links, unless the message that finds these has
// come.
func TestResultOfAFormerOwnerDoesNotBringLinks(t *testing.T) {
	t.Parallel()
	const root = "https://a.test/"
	for _, c := range []struct {
		name      string
		spec      func(*crawlspec.Spec)
		found     bool
		etag      string
		pageRound uint64
	}{
		{"links are not stored", nil, false, "", 0},
		{"links are stored", everyHour, false, "e", 1},
		{"links are found again", everyHour, true, "e", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, c.spec, nil)
			s.seed(root)
			s.crawl()
			if c.found {
				s.takes(&messages.Candidates{Crawl: "c", Source: messages.SourceUnchanged, Referrer: root, Run: 2, PageRound: 1})
			}
			s.result(root, func(r *messages.Result) { r.Class, r.Visit.Round, r.Run = messages.NotModified, 2, 2 })
			s.wantState(root, Done, "")
			s.takes(&messages.Candidates{Crawl: "c", Source: messages.SourceLink, Run: 2, URLs: []messages.Candidate{{URL: root}}})
			s.wantSent(s.dispatch(10), root)
			req, err := s.part.Requests.Message(s.part.urls.inFlight[urlID{"c", messages.HashURL(root)}])
			s.must(err)
			if req.ETag != c.etag || req.PageRound != c.pageRound {
				t.Errorf("asked with ETag %q, page_round %d, want %q, %d", req.ETag, req.PageRound, c.etag, c.pageRound)
			}
		})
	}
}

// The links of a large unchanged page are found in several turns, over restarts. A repeat of the
// message, an older one and one about another page change nothing.
func TestLinksOfALargePageAreFoundInSteps(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	const root = "https://a.test/"
	w := newPartitionFixture(t, everyHour)
	w.seed(root)
	var want []string
	for part := range 3 {
		m := &messages.Candidates{
			Crawl: "c", Source: messages.SourceLink, Referrer: root, Depth: 1, PageRound: 1, PagePart: part,
		}
		for i := range reviewed {
			url := fmt.Sprintf("https://a.test/%d-%04d", part, i)
			want = append(want, url)
			m.URLs = append(m.URLs, messages.Candidate{URL: url})
		}
		for range 2 {
			_, err := w.part.ApplyCandidates(m, 1, w.at())
			w.must(err)
		}
		w.must(w.part.Commit(w.at()))
	}
	for urls := w.dispatch(5000); len(urls) > 0; urls = w.dispatch(5000) {
		for _, url := range urls {
			w.result(url, class(messages.Gone))
		}
	}
	m := &messages.Candidates{Crawl: "c", Source: messages.SourceUnchanged, Referrer: root, Run: w.now.Unix(), PageRound: 1}
	_, err := w.part.ApplyCandidates(m, 1, w.at())
	w.must(err)
	w.must(w.part.Commit(w.at()))
	left := func() (n int) {
		w.must(w.store.scan(table.Prefix(0, kindUnchanged), nil, func(_, _ []byte) (bool, error) { n++; return true, nil }))
		return n
	}
	for steps := 1; left() > 0; steps++ {
		w.must(w.part.RunTimers(w.at()))
		if n := w.part.crawls.get("c").Queued; n > int64(steps*reviewed) || steps > 10 {
			t.Fatalf("%d URLs in %d steps", n, steps)
		}
		w.must(w.part.Commit(w.at()))
		w.restart()
	}
	for _, url := range want {
		w.wantState(url, Queued, "")
	}
}
