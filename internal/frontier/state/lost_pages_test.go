package state

import (
	"testing"
	"time"

	"seine/pkg/messages"
)

const lostURL = "https://a.test/x"

// losePage answers the request in flight for a URL, loses its page and has it fetched again. It
// returns both requests.
func (w *partitionFixture) losePage(url string) (first, second *messages.Request) {
	w.t.Helper()
	first = w.requestFor(url)
	w.answer(url, messages.OK)
	w.findLost()
	w.pass(time.Minute)
	w.wantSent(w.dispatch(10), url)
	return first, w.requestFor(url)
}

func (w *partitionFixture) requestFor(url string) *messages.Request {
	w.t.Helper()
	wire, err := w.part.Requests.Message(w.part.urls.inFlight[urlID{"c", messages.HashURL(url)}])
	w.must(err)
	return wire
}

// findLost treats the pages of all visits in Parsing as lost.
func (w *partitionFixture) findLost() {
	w.t.Helper()
	w.pass(time.Second)
	if w.part.CountParsing() == 0 {
		w.t.Fatal("no visit is parsed")
	}
	w.part.FetchUnparsed()
	w.tend()
}

// A lost page is fetched by another visit: a repeat of the first result does not count for it,
// neither before its request is sent nor after.
func TestRepeatedResultOfALostPage_ChangesNothing(t *testing.T) {
	t.Parallel()
	w := newPartitionFixture(t, nil)
	w.seed(lostURL)
	w.wantSent(w.dispatch(10), lostURL)
	first := w.requestFor(lostURL)
	repeat := func(r *messages.Result) { r.Visit, r.Attempt = first.Visit, first.Attempt }
	w.answer(lostURL, messages.OK)
	w.findLost()
	w.wantState(lostURL, Queued, "")
	w.result(lostURL, repeat)
	w.wantState(lostURL, Queued, "")
	w.pass(time.Minute)
	w.wantSent(w.dispatch(10), lostURL)
	w.result(lostURL, repeat)
	w.wantState(lostURL, InFlight, "")
	if second := w.requestFor(lostURL); second.Visit.Round <= first.Visit.Round || second.ID() == first.ID() {
		t.Errorf("the requests are %s and %s", first.ID(), second.ID())
	}
	if n := w.part.crawls.get("c").Pages; n != 1 {
		t.Errorf("%d pages are counted, and one came", n)
	}
}

// An owner whose state does not know about a lost page takes over the request for it, and its
// result. It sends no request with the same identity, and no conditional one.
func TestRequestForALostPage_IsTakenOver(t *testing.T) {
	for name, found := range map[string]func(*partitionFixture, *messages.Request){
		"in FETCH": func(w *partitionFixture, req *messages.Request) {
			w.must(w.part.Requests.adoptForeign(req, w.at()))
			w.must(w.part.Commit(w.at()))
			w.wantState(lostURL, InFlight, "")
			w.answer(lostURL, messages.Timeout)
		},
		"by its result": func(w *partitionFixture, req *messages.Request) {
			w.result(lostURL, func(r *messages.Result) { r.Visit, r.Attempt, r.Class = req.Visit, req.Attempt, messages.Timeout })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newPartitionFixture(t, nil)
			w.seed(lostURL)
			w.wantSent(w.dispatch(10), lostURL)
			first, second := w.losePage(lostURL)

			w = newPartitionFixture(t, nil)
			w.seed(lostURL)
			w.wantSent(w.dispatch(10), lostURL)
			if own := w.requestFor(lostURL); own.ID() != first.ID() {
				t.Fatalf("the new owner has sent %s, the former one %s", own.ID(), first.ID())
			}
			w.result(lostURL, func(r *messages.Result) { r.ETag, r.Digest = "e", "0123456789abcdef" })
			found(w, second)
			w.wantState(lostURL, Waiting, "")
			w.pass(time.Hour)
			w.wantSent(w.dispatch(10), lostURL)
			third := w.requestFor(lostURL)
			if third.Visit != second.Visit || third.Attempt <= second.Attempt {
				t.Errorf("after %s, %s is sent", second.ID(), third.ID())
			}
			if third.ETag != "" {
				t.Error("the page is lost, and is asked for only if it has changed")
			}
		})
	}
}
