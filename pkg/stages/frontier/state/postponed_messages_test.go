package state

import (
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"seine/pkg/messages"
	"seine/pkg/stages/frontier/table"
)

// postponedKeys is how many messages wait in the store.
func (w *partitionFixture) postponedKeys() (n int) {
	w.t.Helper()
	w.must(w.store.scan(table.Prefix(0, kindPostponed), nil, func(_, _ []byte) (bool, error) { n++; return true, nil }))
	return n
}

// The first messages of a crawl wait for the removal of a deleted one of its name, over
// kills, and in their order; those of other crawls do not.
func TestNewCrawlWaitsForTheRemovalOfADeletedOne(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.spread()
	w.delete()
	left := len(w.keysOf("c"))
	w.seed("https://new.test/1")
	w.seed("https://new.test/2")
	if n := len(w.keysOf("c")); n < left || w.postponedKeys() != 2 {
		t.Fatalf("%d of %d keys are left in the turn of the message, %d messages wait", n, left, w.postponedKeys())
	}
	_, err := w.part.ApplyCandidates(&messages.Candidates{
		Crawl: "other", Rev: w.current.Rev, Source: messages.SourceSeed, URLs: []messages.Candidate{{URL: "https://other.test/"}},
	}, 1, w.at())
	w.must(err)
	w.must(w.part.Commit(w.at()))
	if c := w.part.crawls.active["other"]; c == nil || c.Queued != 1 {
		t.Errorf("another crawl waits: %+v", c)
	}
	if st, err := w.part.Questions.status("c"); err != nil || !st.Removing || st.Counters.Known() != 0 {
		t.Errorf("asked how it stands: %+v, %v", st, err)
	}
	for range 6 {
		w.must(w.part.RunTimers(w.at())) // which is lost
		w.restart()
		w.step()
	}
	w.tend()
	if c := w.part.crawls.active["c"]; c == nil || c.Known() != 2 || w.postponedKeys() > 0 || len(w.part.Postponed.waiting) > 0 {
		t.Fatalf("the new crawl is %+v; %d messages wait", c, w.postponedKeys())
	}
	w.wantSent(w.dispatch(1), "https://new.test/1")
}

// What waits for the removal of a crawl is dropped when the new one is deleted too, and
// set aside if it cannot be read.
func TestMessageThatWaitsBringsNothingBack(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.spread()
	w.delete()
	w.seed("https://new.test/1")
	w.delete()
	w.seed("https://new.test/2")
	w.kill()
	w.open()
	w.tend()
	if c := w.part.crawls.active["c"]; c == nil || c.Known() != 1 || c.Since != w.last.Rev {
		t.Errorf("the crawl is %+v", c)
	}
	w.wantState("https://new.test/2", Queued, "")
	w.delete()
	w.seed("https://new.test/3")
	damage(func(b *pebble.Batch, key, _ []byte) { w.must(b.Set(key, []byte("?"), nil)) }, kindPostponed)(w)
	w.tend()
	if !w.part.loggedRepairs[repairMessage] || w.postponedKeys() > 0 || w.part.TimersPending() {
		t.Errorf("told %v, %d messages wait", w.part.loggedRepairs, w.postponedKeys())
	}
	aside := 0
	w.must(w.store.scan(table.Prefix(0, kindSetAside), nil, func(key, value []byte) (bool, error) {
		if strings.HasPrefix(string(key[3:]), "Wc\x00") && string(value) == "?" {
			aside++
		}
		return true, nil
	}))
	if aside != 1 {
		t.Errorf("%d messages are set aside", aside)
	}
}
