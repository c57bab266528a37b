package state

import (
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

func keepCookies(s *crawlspec.Spec) { s.Cookies = new(true) }

// redirects answers the request in flight for a URL with a redirect: the target comes before the
// result, or after it.
func (w *partitionFixture) redirects(from, to string, count int, resultFirst bool) {
	w.t.Helper()
	if resultFirst {
		w.result(from, class(messages.Redirect))
	}
	w.feedRedirect(from, to, count)
	if !resultFirst {
		w.result(from, class(messages.Redirect))
	}
}

func (w *partitionFixture) follows(url string) bool {
	w.t.Helper()
	m, err := w.part.Requests.Message(w.part.urls.inFlight[urlID{"c", messages.HashURL(url)}])
	w.must(err)
	return m.Follow
}

// Where cookies are kept, a URL whose redirects lead back to it is visited once more, with a
// request that follows them, but not a third time.
func TestCookieGateIsVisitedAgain(t *testing.T) {
	const page, set, ask = "https://a.test/page", "https://a.test/set", "https://a.test/ask"
	for _, restart := range []bool{false, true} {
		w := newPartitionFixture(t, keepCookies)
		w.seed("https://a.test/")
		w.wantSent(w.dispatch(10), "https://a.test/")
		w.link(1, page)
		w.wantSent(w.dispatch(10), page)
		if w.follows(page) {
			t.Error("the first request follows redirects")
		}
		w.redirects(page, set, 1, false)
		w.wantSent(w.dispatch(10), set)
		w.redirects(set, ask, 2, false)
		w.wantSent(w.dispatch(10), ask)
		w.redirects(ask, page, 3, false)
		w.wantState(page, Queued, "")
		if restart {
			w.restart()
		}
		w.wantSent(w.dispatch(10), page)
		if !w.follows(page) {
			t.Error("the second request does not follow redirects")
		}
		w.redirects(page, set, 1, false) // the fetcher could not follow them
		w.wantState(page, Done, "")
		w.redirects(set, page, 2, true) // late messages
		w.wantSent(w.dispatch(10))
		w.wantState(page, Done, "")
	}
}

// The circle may be detected before the result of its first redirect arrives.
func TestCookieGateIsSeenBeforeItsResult(t *testing.T) {
	const page, set = "https://a.test/page", "https://a.test/set"
	w := newPartitionFixture(t, keepCookies)
	w.seed(page)
	w.wantSent(w.dispatch(10), page)
	w.feedRedirect(page, set, 1)
	w.wantSent(w.dispatch(10), set)
	w.redirects(set, page, 2, false)
	w.wantState(page, InFlight, "")
	w.result(page, class(messages.Redirect))
	w.wantSent(w.dispatch(10), page)
	if !w.follows(page) {
		t.Error("the second request does not follow redirects")
	}
}

func (w *partitionFixture) feedRedirect(from, to string, count int) {
	w.t.Helper()
	m := &messages.Candidates{
		Crawl: "c", Source: messages.SourceRedirect, Referrer: from, Depth: 1, Redirects: count, URLs: []messages.Candidate{{URL: to}},
	}
	_, err := w.part.ApplyCandidates(m, 1, w.at())
	w.must(err)
	w.must(w.part.Commit(w.at()))
}

// Redirects without a circle, or without a gate, cause no further visit.
func TestOtherRedirectsToKnownURLs(t *testing.T) {
	const page, set = "https://a.test/page", "https://a.test/set"
	for name, c := range map[string]struct {
		spec func(*crawlspec.Spec)
		do   func(w *partitionFixture)
	}{
		"no cookies are kept": {nil, func(w *partitionFixture) { w.redirects(set, page, 2, false) }},
		"cookies of another source": {func(s *crawlspec.Spec) {
			s.Sources = []crawlspec.HostRule{{Hosts: []string{"b.test"}, Access: crawlspec.Access{Cookies: new(true)}}}
		}, func(w *partitionFixture) { w.redirects(set, page, 2, false) }},
		"another URL redirects to it": {keepCookies, func(w *partitionFixture) {
			w.link(1, "https://a.test/other")
			w.dispatch(10)
			w.redirects("https://a.test/other", page, 1, false)
		}},
		"a link leads to it": {keepCookies, func(w *partitionFixture) { w.link(2, page) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPartitionFixture(t, c.spec)
			w.seed(page)
			w.wantSent(w.dispatch(10), page)
			w.redirects(page, set, 1, false)
			w.wantSent(w.dispatch(10), set)
			c.do(w)
			w.wantState(page, Done, "")
		})
	}
}

// The redirect that closes the circle may be nearer to a seed, or more urgent, than the previous
// path to the URL.
func TestCookieGateTakesOverWhatIsMoreUrgent(t *testing.T) {
	const page, set = "https://a.test/page", "https://a.test/set"
	w := newPartitionFixture(t, keepCookies)
	late, urgent := 9, 2
	feed := func(m *messages.Candidates) {
		m.Crawl, m.Rev = "c", w.current.Rev
		_, err := w.part.ApplyCandidates(m, 1, w.at())
		w.must(err)
		w.must(w.part.Commit(w.at()))
	}
	feed(&messages.Candidates{Source: messages.SourceSeed, URLs: []messages.Candidate{{URL: page, Priority: &late}}})
	w.wantSent(w.dispatch(10), page)
	w.redirects(page, set, 1, false)
	w.wantSent(w.dispatch(10), set)
	feed(&messages.Candidates{
		Source: messages.SourceRedirect, Referrer: set, Redirects: 2, URLs: []messages.Candidate{{URL: page, Priority: &urgent}},
	})
	r, err := w.part.urls.record(urlID{"c", messages.HashURL(page)})
	w.must(err)
	if r.State != Queued || int(r.Priority) != urgent {
		t.Errorf("the URL is %v with priority %d", r.State, r.Priority)
	}
}
