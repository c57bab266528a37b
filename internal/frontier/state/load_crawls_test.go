package state

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"seine/internal/base/jsontext"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// ended makes some crawls that have ended and are unloaded.
func (w *partitionFixture) ended(many int) {
	w.t.Helper()
	for i := range many {
		_, err := w.part.ApplyCandidates(&messages.Candidates{
			Crawl: fmt.Sprint("ended", i), Rev: w.current.Rev, Source: messages.SourceLink, Depth: 1, URLs: []messages.Candidate{{URL: "https://a.test/"}},
		}, 1, w.at())
		w.must(err)
		w.must(w.part.Commit(w.at()))
	}
	w.tend()
	w.pass(time.Duration(idleTime))
	w.tend()
	if len(w.part.crawls.active) > 0 || w.atRest() != many {
		w.t.Fatalf("%d crawls are awake, %d at rest", len(w.part.crawls.active), w.atRest())
	}
}

// A start does nothing for ended crawls. It does not even read their states, so it does not notice
// unreadable ones.
func TestStartDoesNotLookAtCrawlsThatHaveEnded(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.ended(20)
	w.seed("https://b.test/")
	w.tend()
	damage(func(b *pebble.Batch, key, value []byte) {
		if string(key[3:]) != "c" {
			garble(b, key, value)
		}
	}, kindCounters)(w)
	w.restart()
	w.part.crawls.specsGen = 0 // as in a new process
	w.tend()
	if len(w.part.loggedRepairs) > 0 || len(w.part.crawls.active) != 1 {
		t.Errorf("told of %v, %d crawls are awake", w.part.loggedRepairs, len(w.part.crawls.active))
	}
	w.wantSent(w.dispatch(10), "https://b.test/")
	if _, err := w.part.crawls.stateOf("ended7"); err != nil || !w.part.loggedRepairs[repairCounters] {
		t.Errorf("asked about one: %v, told of %v", err, w.part.loggedRepairs)
	}
}

// A state that another build has evaluated is read completely. No crawl that continues is
// forgotten, and the list is correct from then on.
func TestStateOfAnotherBuildIsReadWhole(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.ended(3)
	w.seed("https://b.test/")
	w.tend()
	damage(remove, kindAwake)(w)
	damage(func(b *pebble.Batch, key, value []byte) {
		var m mark
		w.must(jsontext.Unmarshal(value, &m))
		if m.Judged == (specProgress{}) {
			t.Error("the mark does not say what was judged")
		}
		m.Judged = specProgress{}
		text, err := json.Marshal(&m)
		w.must(err)
		w.must(b.Set(key, text, nil))
	}, kindTime)(w)
	w.must(w.store.db.Set(w.part.awakeKey("ended1"), nil, pebble.Sync)) // an old entry
	for range 2 {
		w.restart()
		if c := w.part.crawls.active["c"]; c == nil || c.Queued != 1 || len(w.part.crawls.active) != 1 {
			t.Fatalf("awake are %v", w.part.crawls.active)
		}
		w.tend()
		if listed, err := w.store.has(w.part.awakeKey("c")); err != nil || !listed || w.countKeys(kindAwake) != 1 {
			t.Fatalf("c is listed: %v, of %d; %v", listed, w.countKeys(kindAwake), err)
		}
		if w.part.crawls.storedProgress.Build != buildPrint() {
			t.Fatal("the mark does not say that all were judged")
		}
	}
	w.wantSent(w.dispatch(10), "https://b.test/")
}

// The next owner checks a spec that was stored while the partition had no owner, even if an owner
// in between died before it had re-evaluated the crawl.
func TestCrawlsAreStaleUntilTheyAreJudged(t *testing.T) {
	w := newPartitionFixture(t, nil)
	const many = 3 * maxStale
	w.ended(many)
	w.kill()
	w.change(func(s *crawlspec.Spec) { s.MaxDepth = new(1) })
	for range 3 {
		w.open()
		w.part.crawls.specsGen = 0 // as in a new process
		w.must(w.part.RunTimers(w.at()))
		w.must(w.part.Commit(w.at()))
		w.kill()
	}
	w.open()
	w.part.crawls.specsGen = 0
	for more := true; more; more = w.part.TimersPending() {
		w.step()
	}
	if n := w.staleStates(); n > 0 {
		t.Errorf("%d states are stale", n)
	}
}

// Changes are requested only once: a start checks no crawl whose spec was evaluated before, though
// all specs arrive again.
func TestStartLooksAtNoSpecTwice(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.ended(5)
	w.change(func(s *crawlspec.Spec) { s.MaxDepth = new(1) })
	w.tend()
	w.pass(time.Minute)
	w.tend()
	if want := (specProgress{buildPrint(), crawlspec.Progress{Bucket: 1, Rev: w.gen}}); w.part.crawls.storedProgress != want {
		t.Fatalf("stored is %+v, want %+v", w.part.crawls.storedProgress, want)
	}
	damage(garble, kindCounters)(w)
	w.restart()
	w.part.crawls.specsGen = 0
	w.tend()
	if len(w.part.loggedRepairs) > 0 {
		t.Errorf("told of %v", w.part.loggedRepairs)
	}
}

// The filter of a small crawl is exact and small.
func TestFilterOfASmallCrawlIsSmall(t *testing.T) {
	s := newSeen()
	before := FilterBytes()
	for i := range 6 {
		s.add(messages.HashURL(fmt.Sprint("https://a.test/", i)))
	}
	if n := FilterBytes() - before; len(s.layers) > 0 || n > 200 {
		t.Errorf("%d layers, %d bytes", len(s.layers), n)
	}
	if s.drop(); FilterBytes() != before {
		t.Errorf("%d bytes remain", FilterBytes()-before)
	}
}

// Joined filters know the contents of both, whatever their sizes are, and continue.
func TestJoinedFiltersKnowWhatBothKnew(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	url := func(kind string, i int) messages.URLHash {
		return messages.HashURL(fmt.Sprintf("https://a.test/%s/%d", kind, i))
	}
	sizes := []int{0, 1, 5, mostFew, mostFew + 1, 2 * seenFirst}
	for _, mine := range sizes {
		for _, others := range sizes {
			s, o := newSeen(), newSeen()
			for i := range mine {
				s.add(url("mine", i))
			}
			for i := range others {
				o.add(url("others", i))
			}
			s.loading = true
			s.join(o)
			s.add(url("late", 0))
			missing := 0
			for i := range mine {
				if !s.has(url("mine", i)) {
					missing++
				}
			}
			for i := range others {
				if !s.has(url("others", i)) {
					missing++
				}
			}
			wrong := 0
			for i := range 1000 {
				if s.has(url("new", i)) {
					wrong++
				}
			}
			if missing > 0 || wrong > 20 || !s.has(url("late", 0)) {
				t.Errorf("%d and %d: %d are missing, %d of 1000 new ones are taken for known", mine, others, missing, wrong)
			}
		}
	}
}

// Crawls that have not ended are reported, and no others: neither ended nor unloaded ones.
func TestCrawlsThatGoOnAreTold(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.ended(3)
	w.seed("https://b.test/")
	w.tend()
	if got := w.part.Questions.awake(); got.Partial || !slices.Equal(got.Names, []string{"c"}) {
		t.Errorf("told of %+v", got)
	}
	for range 2 {
		for _, url := range w.dispatch(10) {
			w.answer(url, messages.NotModified)
		}
	}
	if got := w.part.Questions.awake(); len(got.Names) > 0 || w.part.crawls.active["c"] == nil {
		t.Errorf("after its end told of %+v", got)
	}
	for i := range 40_000 {
		w.part.crawls.removals[fmt.Sprintf("crawl-%020d", i)] = &removal{}
	}
	if got := w.part.Questions.awake(); !got.Partial || len(got.Names) < 10_000 || len(got.Names) > maxAwakeBytes/26 {
		t.Errorf("of very many told of %d, partial: %v", len(got.Names), got.Partial)
	}
}
