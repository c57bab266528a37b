package state

import (
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

func (w *partitionFixture) wantCanAsk(crawl string, want bool, when string) {
	w.t.Helper()
	got, err := w.part.schedule.hasDueHost(crawl, w.at())
	w.must(err)
	if got != want {
		w.t.Errorf("%s: a host of crawl %s can be asked: %t, want %t", when, crawl, got, want)
	}
}

// A crawl cannot continue now while all its hosts wait.
func TestWhetherAHostCouldBeAskedNow(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Delay, s.PerHost = crawlspec.Duration(time.Minute), 1 })
	w.wantCanAsk("c", false, "without a URL")
	w.seed("https://a.test/1", "https://a.test/2", "https://a.test/3")
	w.wantCanAsk("c", true, "with one queued")
	w.wantCanAsk("other", false, "of another crawl")
	w.wantSent(w.dispatch(10), "https://a.test/1")
	w.wantCanAsk("c", false, "while its only host is asked")
	w.result("https://a.test/1", class(messages.Gone))
	w.wantCanAsk("c", false, "within its delay")
	w.pass(2 * time.Minute)
	w.wantCanAsk("c", true, "after its delay")
	w.restart()
	w.wantCanAsk("c", true, "after a restart")
	w.wantSent(w.dispatch(10), "https://a.test/2")
	w.result("https://a.test/2", func(r *messages.Result) {
		r.Class, r.Status, r.RetryAfter = messages.Throttled, 429, messages.Millis(6*time.Hour)
	})
	w.pass(5 * time.Hour)
	w.wantCanAsk("c", false, "within its Retry-After")
	w.pass(2 * time.Hour)
	w.wantCanAsk("c", true, "after its Retry-After")
	w.change(func(s *crawlspec.Spec) { s.State = crawlspec.Paused })
	w.tend()
	w.wantSent(w.dispatch(10))
	w.must(w.part.Commit(w.at()))
	w.wantCanAsk("c", false, "paused")
}
