package state

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// listed returns seeds for a spec.
func listed(urls ...string) (seeds []crawlspec.Seed) {
	for _, u := range urls {
		seeds = append(seeds, crawlspec.Seed{URL: u})
	}
	return seeds
}

// feedSeeds applies the published seeds of specs, and reports whether there were any.
func (w *partitionFixture) feedSeeds() bool {
	w.t.Helper()
	w.tend()
	batch := w.part.Seeds.pending
	w.part.Seeds.pending = nil
	for _, m := range batch {
		bad, err := w.part.ApplyCandidates(m, 1, w.at())
		w.must(err)
		if len(bad) > 0 {
			w.t.Fatalf("not taken: %v", bad)
		}
		w.must(w.part.Commit(w.at()))
	}
	return len(batch) > 0
}

func TestSeedsOfTheSpecBeginTheCrawl(t *testing.T) {
	first := 0
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.Seeds = append(listed("https://a.test/2"), crawlspec.Seed{URL: "https://A.test:443/1", Priority: &first})
	})
	w.feedSeeds()
	w.wantSent(w.dispatch(10), "https://a.test/1", "https://a.test/2")
	if w.feedSeeds() {
		t.Error("they were fed again")
	}
	w.change(func(s *crawlspec.Spec) { s.Seeds = append(s.Seeds, listed("https://b.test/")...) })
	w.feedSeeds()
	w.wantSent(w.dispatch(10), "https://b.test/")
}

// Whichever owner dies before the seeds are stored on URLS, or before they are applied, the next
// owner adds them: to a new crawl, to one that has other seeds, and to a dormant one.
func TestSeedsOfTheSpecAreFedWhoeverDies(t *testing.T) {
	for name, begin := range map[string]func(*partitionFixture){
		"new": func(*partitionFixture) {}, "fed": func(w *partitionFixture) { w.seed("https://a.test/0") },
		"at rest": func(w *partitionFixture) {
			w.finished()
			w.pass(time.Duration(idleTime))
			w.tend()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPartitionFixture(t, nil)
			begin(w)
			w.change(func(s *crawlspec.Spec) { s.Seeds = listed("https://b.test/1") })
			for range 3 {
				w.tend()
				if len(w.part.Seeds.pending) != 1 {
					t.Fatalf("%d messages are published", len(w.part.Seeds.pending))
				}
				w.pass(time.Hour) // otherwise nothing might be stored
				w.tend()
				w.restart()
			}
			w.feedSeeds()
			w.wantState("https://b.test/1", Queued, "")
			w.restart()
			if w.feedSeeds() {
				t.Error("they were fed again")
			}
		})
	}
}

// A seed that is no longer in the list keeps its state, and the next run does not begin with it
// unless a person has submitted it too.
func TestRunBeginsWithTheSeedsThatTheSpecHas(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.Schedule, s.Seeds = "@every 1h", listed("https://a.test/1", "https://a.test/2", "https://a.test/3")
	})
	w.feedSeeds()
	w.seed("https://a.test/2")
	visit := func() (sent []string) {
		for {
			urls := w.dispatch(10)
			if len(urls) == 0 {
				slices.Sort(sent)
				return sent
			}
			for _, u := range urls {
				sent = append(sent, u)
				w.answer(u, messages.Gone)
			}
		}
	}
	w.wantSent(visit(), "https://a.test/1", "https://a.test/2", "https://a.test/3")
	w.change(func(s *crawlspec.Spec) { s.Seeds = listed("https://a.test/1", "https://a.test/4") })
	w.feedSeeds()
	w.wantSent(visit(), "https://a.test/1", "https://a.test/4") // a failed seed that is submitted again is retried
	w.pass(time.Hour)
	w.wantSent(visit(), "https://a.test/1", "https://a.test/2", "https://a.test/4")
	w.wantState("https://a.test/3", Failed, string(messages.Gone))
}

// More seeds than fit into a message or a turn, with a restart in the middle of a run.
func TestManySeedsOfTheSpecAreFed(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	var urls []string
	for i := range 2*messages.MaxBatchURLs + 10 {
		urls = append(urls, fmt.Sprintf("https://a.test/%d", i))
	}
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Schedule, s.Seeds = "@every 1h", listed(urls...) })
	w.feedSeeds()
	if n := w.part.crawls.get("c").Queued; n != int64(len(urls)) {
		t.Fatalf("%d are queued, of %d", n, len(urls))
	}
	w.pass(time.Hour)
	w.step()
	w.restart()
	w.tend()
	run := w.part.crawls.get("c").Run
	for _, u := range urls {
		r, err := w.part.urls.record(urlID{"c", messages.HashURL(u)})
		w.must(err)
		if run == 0 || r.Run != run {
			t.Fatalf("%s is of run %d, not of %d", u, r.Run, run)
		}
	}
}

// An earlier owner may publish late: its list does not show whether the new one was received.
func TestLateListOfSeedsIsNotTakenForTheNewOne(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Seeds = listed("https://a.test/1") })
	w.tend()
	late := w.part.Seeds.pending
	w.part.Seeds.pending = nil
	w.change(func(s *crawlspec.Spec) { s.Seeds = listed("https://b.test/1") })
	w.feedSeeds()
	for _, m := range late {
		_, err := w.part.ApplyCandidates(m, 1, w.at())
		w.must(err)
	}
	w.must(w.part.Commit(w.at()))
	if w.feedSeeds() || w.part.crawls.get("c").Seeding.Due {
		t.Errorf("%+v", w.part.crawls.get("c").Seeding)
	}
}

// A deleted name has a spec with seeds again. They are added once the deleted crawl is removed, by
// whichever process owns the partition then.
func TestSeedsOfTheSpecAfterADeletionAreFed(t *testing.T) {
	for _, killed := range []bool{false, true} {
		w := newPartitionFixture(t, nil)
		w.finished()
		w.delete()
		w.change(func(s *crawlspec.Spec) { s.Seeds = listed("https://a.test/1") })
		for range 10 {
			w.step()
		}
		if len(w.part.Seeds.pending) != 1 {
			t.Fatalf("%d messages are published", len(w.part.Seeds.pending))
		}
		w.part.Seeds.pending = nil
		if killed {
			w.restart()
		} else {
			w.part.crawls.active["c"].seedsSent = 0 // otherwise the published ones are applied
		}
		w.feedSeeds()
		w.wantSent(w.dispatch(10), "https://a.test/1")
	}
}
