package state

import (
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// A page that a browser cannot render, or not in time, says nothing about its host, which has
// answered. Other pages of the host are fetched at its usual pace, however many fail like that.
func TestPageThatABrowserCannotShowIsNotTheHostsFailure(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.MaxAttempts = 2 })
	var urls []string
	for _, path := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		urls = append(urls, "https://a.test/"+path)
	}
	w.seed(urls...)
	for n := range urls {
		w.pass(10 * time.Second)
		sent := w.dispatch(1)
		if len(sent) == 0 {
			t.Fatalf("the host rests after %d such pages", n)
		}
		for _, url := range sent {
			w.result(url, func(r *messages.Result) {
				r.Class, r.Detail, r.Status, r.Error = messages.Timeout, messages.DetailRender, 200, "rendering: the browser hangs"
			})
		}
	}
	if h := w.part.hosts.active["a.test"]; h.polite.Failing() || h.polite.Slowed() != 0 {
		t.Errorf("the host counts as failing: %v, and is slowed by %v", h.polite.Failing(), h.polite.Slowed())
	}
}
