package frontier

import (
	"testing"
	"time"

	"seine/pkg/messages"
)

// finished gives the crawl two URLs that were visited.
func (w *world) finished() {
	w.t.Helper()
	w.seed("https://a.test/1", "https://a.test/2")
	for range 2 {
		for _, url := range w.dispatch(10) {
			w.answer(url, messages.NotModified)
		}
	}
	if c := w.shard.crawls["c"]; c.Done != 2 || c.Open() != 0 {
		w.t.Fatalf("%+v", c.Counters)
	}
}

// A crawl that has ended takes no memory but an entry, at once after a start, and as
// soon as nothing has happened for a while; fed again it knows what it knew.
func TestEndedCrawlTakesNoMemory(t *testing.T) {
	w := newWorld(t, nil)
	w.finished()
	w.tend()
	if len(w.shard.crawls) != 1 {
		t.Error("it was let go at once")
	}
	w.pass(time.Duration(idleTime))
	w.tend()
	if len(w.shard.crawls) != 0 || len(w.shard.resting) != 1 {
		t.Errorf("%d crawls in memory, %d at rest", len(w.shard.crawls), len(w.shard.resting))
	}
	filters := FilterBytes()
	w.restart()
	w.tend()
	if len(w.shard.crawls) != 0 || FilterBytes() > filters {
		t.Errorf("after a start: %d crawls in memory, %d bytes of filters", len(w.shard.crawls), FilterBytes()-filters)
	}
	if st, err := w.shard.stateOf("c"); err != nil || st.Done != 2 {
		t.Errorf("asked how it stands: %+v, %v", st, err)
	}
	w.link(1, "https://a.test/1", "https://a.test/3")
	w.tend()
	if c := w.shard.crawls["c"]; c == nil || c.Known() != 3 || c.Queued != 1 {
		t.Errorf("it goes on with %+v", c)
	}
	w.wantSent(w.dispatch(10), "https://a.test/3")
}

// A look at the hosts wakes no crawl that rests: each would load its filter.
func TestSurveyOfHostsWakesNoCrawlAtRest(t *testing.T) {
	w := newWorld(t, nil)
	w.finished()
	w.pass(time.Duration(idleTime))
	w.tend()
	if _, err := w.asked().surveyHosts("", 10); err != nil {
		t.Fatal(err)
	}
	if len(w.shard.crawls) != 0 || len(w.shard.resting) != 1 {
		t.Errorf("%d crawls in memory, %d at rest", len(w.shard.crawls), len(w.shard.resting))
	}
}

// A crawl at rest is judged again when its spec changes, whether its partition is
// owned meanwhile or not, and forgotten when it is deleted.
func TestCrawlAtRestHearsOfItsSpecAndItsDeletion(t *testing.T) {
	for _, away := range []bool{false, true} {
		w := newWorld(t, nil)
		w.finished()
		w.link(1, "https://b.test/")
		w.pass(time.Duration(idleTime))
		w.tend()
		w.pass(time.Duration(idleTime))
		w.tend()
		if len(w.shard.resting) != 1 {
			t.Fatal("it does not rest")
		}
		change := func(do func()) {
			if away {
				w.kill()
				do()
				w.open()
				w.shard.specsGen = 0 // as of a new process
			} else {
				do()
			}
			w.tend()
		}
		change(func() { w.change(func(s *messages.Spec) { s.Domains = []string{"b.test"} }) })
		w.wantState("https://b.test/", Queued, "")
		w.wantSent(w.dispatch(10), "https://b.test/")
		w.answer("https://b.test/", messages.NotModified)
		for range 2 {
			w.pass(time.Duration(idleTime))
			w.tend()
		}
		if len(w.shard.resting) != 1 {
			t.Fatal("it does not rest again")
		}
		change(w.delete)
		if keys := w.keysOf("c"); len(keys) > 0 || len(w.shard.resting) > 0 {
			t.Errorf("away %v: left after the deletion: %q", away, keys)
		}
	}
}
