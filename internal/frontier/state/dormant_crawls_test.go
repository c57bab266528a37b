package state

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"seine/internal/base/jsontext"
	"seine/internal/frontier/table"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// finished gives the crawl two visited URLs.
func (w *partitionFixture) finished() {
	w.t.Helper()
	w.seed("https://a.test/1", "https://a.test/2")
	for range 2 {
		for _, url := range w.dispatch(10) {
			w.answer(url, messages.NotModified)
		}
	}
	if c := w.part.crawls.active["c"]; c.Done != 2 || c.Pending() != 0 {
		w.t.Fatalf("%+v", c.Counters)
	}
}

// An ended crawl takes no memory except an entry, immediately after a start, and as soon as it has
// been idle for a while. When it gets seeds again, it has its former state.
func TestEndedCrawlTakesNoMemory(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.finished()
	w.tend()
	if len(w.part.crawls.active) != 1 {
		t.Error("it was let go at once")
	}
	w.pass(time.Duration(idleTime))
	w.tend()
	if len(w.part.crawls.active) != 0 {
		t.Errorf("%d crawls in memory", len(w.part.crawls.active))
	}
	filters := FilterBytes()
	w.restart()
	w.tend()
	if len(w.part.crawls.active) != 0 || FilterBytes() > filters {
		t.Errorf("after a start: %d crawls in memory, %d bytes of filters", len(w.part.crawls.active), FilterBytes()-filters)
	}
	if st, err := w.part.crawls.stateOf("c"); err != nil || st.Done != 2 {
		t.Errorf("asked how it stands: %+v, %v", st, err)
	}
	w.link(1, "https://a.test/1", "https://a.test/3")
	w.tend()
	if c := w.part.crawls.active["c"]; c == nil || c.Known() != 3 || c.Queued != 1 {
		t.Errorf("it goes on with %+v", c)
	}
	w.wantSent(w.dispatch(10), "https://a.test/3")
}

// Reading the hosts activates no dormant crawl: each would load its filter.
func TestSurveyOfHostsWakesNoCrawlAtRest(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.finished()
	w.pass(time.Duration(idleTime))
	w.tend()
	if _, err := w.part.Questions.surveyHosts("", 10); err != nil {
		t.Fatal(err)
	}
	if len(w.part.crawls.active) != 0 {
		t.Errorf("%d crawls in memory", len(w.part.crawls.active))
	}
}

// A dormant crawl is re-evaluated when its spec changes, whether its partition has an owner
// meanwhile or not, and removed when it is deleted.
func TestCrawlAtRestHearsOfItsSpecAndItsDeletion(t *testing.T) {
	for _, away := range []bool{false, true} {
		w := newPartitionFixture(t, nil)
		w.finished()
		w.link(1, "https://b.test/")
		w.pass(time.Duration(idleTime))
		w.tend()
		w.pass(time.Duration(idleTime))
		w.tend()
		if len(w.part.crawls.active) != 0 {
			t.Fatal("it does not rest")
		}
		change := func(do func()) {
			if away {
				w.kill()
				do()
				w.open()
				w.part.crawls.specsGen = 0 // as in a new process
			} else {
				do()
			}
			w.tend()
		}
		change(func() { w.change(func(s *crawlspec.Spec) { s.Domains = []string{"b.test"} }) })
		w.wantState("https://b.test/", Queued, "")
		w.wantSent(w.dispatch(10), "https://b.test/")
		w.answer("https://b.test/", messages.NotModified)
		for range 2 {
			w.pass(time.Duration(idleTime))
			w.tend()
		}
		if len(w.part.crawls.active) != 0 {
			t.Fatal("it does not rest again")
		}
		change(w.delete)
		if keys := w.keysOf("c"); len(keys) > 0 {
			t.Errorf("away %v: left after the deletion: %q", away, keys)
		}
	}
}

// Ended crawls are re-evaluated by another build or spec, or removed, a few at a time, whatever is
// asked about them meanwhile.
func TestManyStaleCrawlsAreAwakeAFewAtATime(t *testing.T) {
	const many = 4 * maxStale
	changes := map[string]func(w *partitionFixture){
		"another build": func(w *partitionFixture) {
			w.kill()
			w.open()
			w.judgedOtherwise()
			w.kill()
			w.open()
		},
		"another spec": func(w *partitionFixture) { w.change(func(s *crawlspec.Spec) { s.MaxDepth = new(1) }) },
		"deletion":     func(w *partitionFixture) { w.delete() },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			w := newPartitionFixture(t, nil)
			w.ended(many)
			change(w)
			most, turns := 0, 0
			for more := true; more; more = w.part.TimersPending() {
				w.must(w.part.RunTimers(w.at()))
				w.askAll(many)
				w.must(w.part.Commit(w.at()))
				most, turns = max(most, len(w.part.crawls.active)), turns+1
			}
			w.must(w.part.RunTimers(w.at()))
			if most > maxStale || most == 0 {
				t.Errorf("%d crawls were awake at once, in %d turns", most, turns)
			}
			if len(w.part.crawls.active) > 0 {
				t.Errorf("%d crawls stay awake", len(w.part.crawls.active))
			}
			if want := map[bool]int{true: 0, false: many}[name == "deletion"]; w.atRest() != want || w.staleStates() > 0 {
				t.Errorf("%d crawls rest, %d states are stale", w.atRest(), w.staleStates())
			}
		})
	}
}

// atRest returns how many crawls in the store are not in memory.
func (w *partitionFixture) atRest() int {
	w.t.Helper()
	names, err := w.part.crawls.names()
	w.must(err)
	return len(names) - len(w.part.crawls.active)
}

// askAll asks all kinds of questions about all crawls.
func (w *partitionFixture) askAll(many int) {
	w.t.Helper()
	p := w.part
	for i := range many {
		crawl := fmt.Sprint("ended", i)
		_, err := p.Questions.status(crawl)
		w.must(err)
		_, err = p.Questions.Explain(crawl, "https://a.test/")
		w.must(err)
		_, err = p.Questions.surveyHosts(crawl, 10)
		w.must(err)
	}
}

// judgedOtherwise stores the state of all crawls as if another build had evaluated it.
func (w *partitionFixture) judgedOtherwise() {
	w.t.Helper()
	damage(func(b *pebble.Batch, key, value []byte) {
		var state crawlState
		w.must(jsontext.Unmarshal(value, &state))
		state.Build, state.Print = state.Build+1, state.Print+1
		text, err := json.Marshal(&state)
		w.must(err)
		w.must(b.Set(key, text, nil))
	}, kindCounters)(w)
	damage(func(b *pebble.Batch, key, value []byte) {
		var m mark
		w.must(jsontext.Unmarshal(value, &m))
		m.Judged.Build++
		text, err := json.Marshal(&m)
		w.must(err)
		w.must(b.Set(key, text, nil))
	}, kindTime)(w)
}

// staleStates returns how many stored crawls were evaluated by another build or spec.
func (w *partitionFixture) staleStates() (n int) {
	w.t.Helper()
	w.must(w.store.scan(table.Prefix(0, kindCounters), nil, func(_, value []byte) (bool, error) {
		var state crawlState
		err := jsontext.Unmarshal(value, &state)
		if state.stale() || state.Rev != w.current.Rev || state.Print != w.current.fingerprint {
			n++
		}
		return true, err
	}))
	return n
}

// A crawl that is active only for re-evaluation continues when it gets URLs.
func TestStaleCrawlThatIsFedGoesOn(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.finished()
	w.kill()
	w.open()
	w.judgedOtherwise()
	w.kill()
	w.open()
	w.must(w.part.RunTimers(w.at()))
	if c := w.part.crawls.active["c"]; c == nil || !c.wasStale {
		t.Fatalf("it is not awake: %+v", c)
	}
	w.seed("https://a.test/1", "https://a.test/3")
	awaitLoaded(w.part.crawls.loader, w.part.crawls)
	w.tend()
	if c := w.part.crawls.active["c"]; c == nil || c.wasStale || c.seen.loading || !c.seen.has(messages.HashURL("https://a.test/2")) {
		t.Errorf("it is %+v", c)
	}
	w.wantSent(w.dispatch(10), "https://a.test/3")
}
