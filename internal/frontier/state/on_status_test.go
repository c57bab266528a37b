package state

import (
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// A rule determines how often a URL with a status is tried, and the wait before; the rule of a
// source takes precedence over that of the crawl.
func TestStatusDecidesWhatIsTriedAgain(t *testing.T) {
	minutes := func(n int) crawlspec.Duration { return crawlspec.Duration(n) * crawlspec.Duration(time.Minute) }
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.OnStatus = crawlspec.StatusRules{"403": {Wait: minutes(10), Attempts: 2}, "5xx": {Attempts: 1}, "blocked": {Attempts: 1}}
		s.Sources = []crawlspec.HostRule{{Hosts: []string{"b.test"}, OnStatus: crawlspec.StatusRules{"403": {Attempts: 1}, "503": {Wait: minutes(30)}}}}
	})
	answer := func(url string, class messages.Class, status int) {
		t.Helper()
		w.result(url, func(r *messages.Result) { r.Class, r.Status = class, status })
	}
	w.seed("https://a.test/1", "https://a.test/2", "https://a.test/3", "https://a.test/4", "https://b.test/1", "https://b.test/2")
	w.dispatch(10)
	answer("https://a.test/1", messages.ClientError, 403)
	answer("https://a.test/2", messages.ServerError, 500)
	answer("https://a.test/3", messages.ClientError, 401)
	answer("https://a.test/4", messages.Blocked, 403)
	answer("https://b.test/1", messages.ClientError, 403)
	answer("https://b.test/2", messages.ServerError, 503)
	w.wantState("https://a.test/1", Waiting, "")
	w.wantState("https://a.test/2", Failed, "server_error")
	w.wantState("https://a.test/3", Failed, "client_error")
	w.wantState("https://a.test/4", Failed, "blocked")
	w.wantState("https://b.test/1", Failed, "client_error")
	w.wantState("https://b.test/2", Waiting, "")
	w.pass(9 * time.Minute)
	w.wantSent(w.dispatch(10))
	w.restart()
	w.pass(6 * time.Minute)
	w.wantSent(w.dispatch(10), "https://a.test/1")
	answer("https://a.test/1", messages.ClientError, 403)
	w.wantState("https://a.test/1", Failed, "client_error")
	w.wantSent(w.dispatch(10))
	w.pass(45 * time.Minute)
	w.wantSent(w.dispatch(10), "https://b.test/2")
}

// A repeated result uses up one attempt, whichever it is.
func TestAnswerThatARuleHasTriedAgainCountsOnce(t *testing.T) {
	t.Parallel()
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.OnStatus = crawlspec.StatusRules{"403": {Attempts: 3}} })
	const url = "https://a.test/1"
	refuse := func(attempt int) {
		t.Helper()
		w.result(url, func(r *messages.Result) { r.Class, r.Status, r.Attempt = messages.ClientError, 403, attempt })
	}
	w.seed(url)
	for attempt := 1; attempt <= 3; attempt++ {
		w.wantSent(w.dispatch(10), url)
		refuse(attempt)
		for late := 1; late <= attempt; late++ {
			refuse(late)
		}
		if attempt < 3 {
			w.wantState(url, Waiting, "")
		}
		w.pass(time.Hour)
	}
	w.wantState(url, Failed, "client_error")
	w.wantSent(w.dispatch(10))
}
