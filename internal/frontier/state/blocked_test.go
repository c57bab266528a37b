package state

import (
	"strings"
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// A page that was replaced by a challenge is retried later, as often as other pages. Its host is
// slowed down, and gets its usual pace when it answers again.
func TestBlockedPageIsTriedAgainLater(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.MaxAttempts = 2 })
	w.seed("https://a.test/1", "https://a.test/2")
	blocked := func(r *messages.Result) { r.Class, r.Status, r.Error = messages.Blocked, 200, "a challenge of Anubis" }
	w.dispatch(1)
	w.result("https://a.test/1", blocked)
	w.wantState("https://a.test/1", Waiting, "")
	if h := w.part.hosts.active["a.test"]; h.polite.Slowed() == 0 || h.stats.Pages != 0 {
		t.Errorf("slowed by %v, %d pages", h.polite.Slowed(), h.stats.Pages)
	}
	w.pass(time.Minute)
	w.wantSent(w.dispatch(10), "https://a.test/2")
	w.result("https://a.test/2", blocked)
	w.pass(8 * time.Minute)
	w.wantSent(w.dispatch(10))
	w.pass(time.Hour)
	w.wantSent(w.dispatch(1), "https://a.test/1")
	w.result("https://a.test/1", blocked)
	if s, reason := w.state("https://a.test/1"); s != Failed || !strings.HasPrefix(reason, "blocked: a challenge of Anubis") {
		t.Errorf("%v: %s", s, reason)
	}
}
