package state

import (
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// A former owner counted more failures as probes of the host than the next owner, which reads the
// results later. So it sent an attempt beyond the limit by the next owner's count. The request is
// in FETCH: the next owner takes it over and sends the host no other request.
func TestRequestBeyondTheAttemptsOfANewOwnerIsTakenOver(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.MaxAttempts, s.PerHost = 1, 1 })
	w.seed("https://a.test/x")
	w.wantSent(w.dispatch(10), "https://a.test/x")
	wire, err := w.part.Requests.Message(w.part.urls.inFlight[urlID{"c", messages.HashURL("https://a.test/x")}])
	w.must(err)
	w.answer("https://a.test/x", messages.Timeout)
	w.seed("https://a.test/y")
	w.pass(time.Hour)

	wire.Attempt++
	w.must(w.part.Requests.adoptForeign(wire, w.at()))
	w.must(w.part.Commit(w.at()))
	w.wantSent(w.dispatch(10))
	w.answer("https://a.test/x", messages.OK)
	if state, err := w.part.crawls.stateOf("c"); err != nil || state.Parsing != 1 || state.Failed != 0 {
		t.Errorf("after its page came: %+v, %v", state.Counters, err)
	}
}

// A request that a new owner finds in FETCH may be with a fetcher, even if its round or attempt is
// older than the known one, or its URL is unknown. The owner does not take it over, and sends its
// host nothing until the request must have ended.
func TestHostOfARequestThatIsNotTakenOverIsLeftAlone(t *testing.T) {
	for name, change := range map[string]func(*messages.Request){
		"older round":      func(m *messages.Request) { m.Visit.Round-- },
		"older attempt":    func(m *messages.Request) { m.Attempt-- },
		"a later attempt":  func(m *messages.Request) { m.Attempt++ },
		"unknown URL":      func(m *messages.Request) { m.URL += "z"; m.Visit.URL = messages.HashURL(m.URL) },
		"of another crawl": func(m *messages.Request) { m.Crawl = "gone" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newPartitionFixture(t, func(s *crawlspec.Spec) {
				s.PerHost, s.Timeout = 1, crawlspec.Duration(10*time.Second)
				s.Recrawl = []crawlspec.RecrawlRule{{Match: "*", Every: crawlspec.Duration(time.Hour)}}
			})
			const url = "https://a.test/x"
			w.seed(url)
			w.dispatch(10)
			w.answer(url, messages.OK)
			w.parsed(url)
			w.pass(2 * time.Hour)
			w.wantSent(w.dispatch(10), url)
			w.answer(url, messages.Timeout)
			w.pass(time.Minute)
			w.wantSent(w.dispatch(10), url)
			wire, err := w.part.Requests.Message(w.part.urls.inFlight[urlID{"c", messages.HashURL(url)}])
			w.must(err)
			w.answer(url, messages.OK)
			if wire.Visit.Round != 2 || wire.Attempt != 2 {
				t.Fatalf("the last request was %v, attempt %d", wire.Visit, wire.Attempt)
			}
			change(wire)
			w.seed("https://a.test/y", "https://b.test/")
			w.must(w.part.Requests.adoptForeign(wire, w.at()))
			w.must(w.part.Commit(w.at()))
			longest := messages.ClaimTTL(10 * time.Second)
			w.wantSent(w.dispatch(10), "https://b.test/")
			w.pass(longest - time.Millisecond)
			w.wantSent(w.dispatch(10))
			w.pass(time.Second)
			w.wantSent(w.dispatch(10), "https://a.test/y")
		})
	}
}

// A request whose result is known has ended, so its host need not wait.
func TestHostOfARequestWhoseResultIsKnownIsNotLeftAlone(t *testing.T) {
	t.Parallel()
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.PerHost = 1 })
	w.seed("https://a.test/x")
	w.dispatch(10)
	wire, err := w.part.Requests.Message(w.part.urls.inFlight[urlID{"c", messages.HashURL("https://a.test/x")}])
	w.must(err)
	w.answer("https://a.test/x", messages.OK)
	w.must(w.part.Requests.adoptForeign(wire, w.at()))
	w.must(w.part.Commit(w.at()))
	w.seed("https://a.test/y")
	w.wantSent(w.dispatch(10), "https://a.test/y")
}

// A request that left FETCH without a result is sent again. When the result of the first attempt
// arrives after all, its visit ends, but a fetcher may have the second attempt: the host gets no
// request until that must have ended.
func TestHostOfAnAttemptThatWasOvertakenIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.PerHost, s.Timeout = 1, crawlspec.Duration(10*time.Second) })
	const url = "https://a.test/x"
	w.seed(url, "https://a.test/y")
	w.wantSent(w.dispatch(10), url)
	w.part.Requests.resend(w.part.urls.inFlight[urlID{"c", messages.HashURL(url)}], w.at())
	w.must(w.part.Commit(w.at()))
	w.result(url, func(r *messages.Result) { r.Attempt = 1 })
	w.wantState(url, Parsing, "")
	w.seed("https://b.test/")
	w.wantSent(w.dispatch(10), "https://b.test/")
	w.result(url, func(r *messages.Result) { r.Attempt = 2 })
	w.wantState(url, Parsing, "")
	w.pass(messages.ClaimTTL(10*time.Second) - time.Millisecond)
	w.wantSent(w.dispatch(10))
	w.pass(time.Second)
	w.wantSent(w.dispatch(10), "https://a.test/y")
}

// The same holds when the partition has moved with a state that knows only the first attempt: the
// result of the second one ends the visit, and a fetcher may have the first.
func TestHostOfAnAttemptBeforeTheLastIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.PerHost, s.Timeout = 1, crawlspec.Duration(10*time.Second) })
	const url = "https://a.test/x"
	w.seed(url, "https://a.test/y")
	w.wantSent(w.dispatch(10), url)
	w.result(url, func(r *messages.Result) { r.Attempt = 2 })
	w.wantState(url, Parsing, "")
	w.pass(messages.ClaimTTL(10*time.Second) - time.Millisecond)
	w.wantSent(w.dispatch(10))
	w.pass(time.Second)
	w.wantSent(w.dispatch(10), "https://a.test/y")
}
