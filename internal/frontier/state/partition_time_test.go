package state

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"seine/internal/frontier/table"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// skews returns how wrong a clock may be, or how much two owners' clocks may differ.
func skews() (all []time.Duration) {
	for _, d := range []time.Duration{
		time.Millisecond, 9 * time.Millisecond, 300 * time.Millisecond, 2 * time.Second, 59 * time.Second, 2 * time.Hour, 24 * time.Hour, 365 * 24 * time.Hour,
	} {
		all = append(all, d, -d)
	}
	return append(all, 0)
}

// reopen lets the partition continue in another process, whose clock is ahead by skew. With moved,
// the machine is another one, or was restarted.
func (w *partitionFixture) reopen(skew time.Duration, moved bool) {
	w.t.Helper()
	w.skew = skew
	if moved {
		w.boot()
	}
	w.restart()
}

func TestNoSkewOfClocksLetsARequestOutEarly(t *testing.T) {
	const delay, gone, rest = 400 * time.Millisecond, 190 * time.Millisecond, 210 * time.Millisecond
	for _, before := range []time.Duration{0, 2 * time.Hour, -365 * 24 * time.Hour} {
		for i, skew := range skews() {
			if i%oneCaseIn != 0 {
				continue
			}
			for _, moved := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v after %v, moved %v", skew, before, moved), func(t *testing.T) {
					t.Parallel()
					w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Delay = crawlspec.Duration(delay) })
					w.reopen(before, true)
					w.seed("https://a.test/1", "https://a.test/2")
					w.wantSent(w.dispatch(10), "https://a.test/1")
					w.pass(10 * time.Millisecond)
					w.result("https://a.test/1", class(messages.Gone))
					w.pass(gone) // a new owner elsewhere cannot know this
					w.reopen(before+skew, moved)
					w.pass(rest - time.Millisecond)
					w.wantSent(w.dispatch(10))
					w.pass(time.Millisecond)
					if moved {
						w.wantSent(w.dispatch(10))
						w.pass(delay - rest)
					}
					w.wantSent(w.dispatch(10), "https://a.test/2")
				})
			}
		}
	}
}

func TestWaitGoesOnOverRestartsAndMoves(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/1", "https://a.test/2", "https://b.test/")
	w.dispatch(10)
	w.result("https://a.test/1", func(r *messages.Result) {
		r.Class, r.RetryAfter = messages.Throttled, messages.Millis(24*time.Hour)
	})
	w.result("https://b.test/", nil)
	w.result("https://a.test/2", nil)
	for hour := range 24 {
		w.wantWaits("https://a.test/1", hour < 24)
		for range 120 {
			w.pass(30 * time.Second)
			w.tend() // the time is stored though nothing happens
		}
		w.reopen(0, hour%2 == 0)
	}
	w.pass(25 * time.Minute) // up to a minute for each of the 24 restarts, plus the wait of the URL
	if got := w.dispatch(10); len(got) == 0 {
		t.Error("a wait of a day, with 24 restarts, is not over after a day and 25 minutes")
	}
}

// wantWaits checks whether a URL must wait.
func (w *partitionFixture) wantWaits(url string, waits bool) {
	w.t.Helper()
	if got := w.dispatch(10); slices.Contains(got, url) == waits {
		w.t.Fatalf("sent %q; want %s to wait: %v", got, url, waits)
	}
}

func TestClockThatWasAheadAndIsSetRightStallsNothing(t *testing.T) {
	for _, ahead := range []time.Duration{time.Second, 24 * time.Hour, 365 * 24 * time.Hour} {
		for _, moved := range []bool{false, true} {
			t.Run(fmt.Sprintf("by %v, moved %v", ahead, moved), func(t *testing.T) {
				t.Parallel()
				w := newPartitionFixture(t, func(s *crawlspec.Spec) {
					s.Delay, s.Scope = crawlspec.Duration(time.Second), crawlspec.ScopeAny
					s.Schedule = "@every 48h"
					s.Recrawl = []crawlspec.RecrawlRule{{Match: "*again*", Every: crawlspec.Duration(12 * time.Hour)}}
				})
				w.reopen(ahead, true)
				w.seed("https://host.test/1", "https://host.test/2", "https://retry.test/", "https://again.test/")
				w.wantSent(w.dispatch(10), "https://host.test/1", "https://retry.test/", "https://again.test/")
				w.result("https://host.test/1", nil)
				w.result("https://retry.test/", class(messages.Timeout))
				w.result("https://again.test/", nil)
				w.parsed("https://again.test/")
				w.reopen(0, moved)
				w.wantWithin(5*time.Second, "https://host.test/2", "https://retry.test/")
				w.result("https://retry.test/", nil)
				w.parsed("https://retry.test/")
				w.wantWithin(13*time.Hour, "https://again.test/")
				w.wantWithin(49*time.Hour, "https://retry.test/") // by the schedule
			})
		}
	}
}

// wantWithin lets time pass, and checks that all given URLs were sent within it.
func (w *partitionFixture) wantWithin(d time.Duration, want ...string) {
	w.t.Helper()
	var got []string
	for range 50 {
		w.pass(d / 50)
		got = append(got, w.dispatch(10)...)
	}
	for _, url := range want {
		if !slices.Contains(got, url) {
			w.t.Fatalf("within %v were sent %q, and not %s", d, got, url)
		}
	}
}

func TestRunsGoOnAfterOneThatAClockNamedThatWasAhead(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Schedule = "@every 1h" })
	w.seed("https://a.test/")
	w.dispatch(1)
	w.result("https://a.test/", nil)
	w.parsed("https://a.test/")
	w.reopen(365*24*time.Hour, true)
	w.wantSent(w.dispatch(1), "https://a.test/") // one run makes up for those of a year
	w.result("https://a.test/", nil)
	w.visitEnds("https://a.test/")
	w.reopen(0, true)
	for round := range 5 {
		w.wantSent(w.dispatch(1))
		w.pass(time.Hour)
		run := w.part.crawls.get("c").Run
		w.wantSent(w.dispatch(1), "https://a.test/")
		if now := w.part.crawls.get("c").Run; now <= run {
			t.Fatalf("round %d: the run is %d after %d", round, now, run)
		}
		w.result("https://a.test/", nil)
		w.visitEnds("https://a.test/")
		if round == 2 {
			w.reopen(0, true)
		}
	}
}

// visitEnds parses the page of a URL's last visit.
func (w *partitionFixture) visitEnds(url string) {
	w.t.Helper()
	r, err := w.part.urls.record(urlID{"c", messages.HashURL(url)})
	w.must(err)
	m := &messages.Candidates{Crawl: "c", Source: messages.SourceLink, Ends: messages.Visit{URL: messages.HashURL(url), Round: r.Round}}
	_, err = w.part.ApplyCandidates(m, 1, w.at())
	w.must(err)
	w.must(w.part.Commit(w.at()))
}

func TestHoursAreThoseOfTheDayWhateverTheClockSaidBefore(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Hours = []string{"22:00-06:00"} })
	w.now = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	w.reopen(9*time.Hour+30*time.Minute, true)
	w.seed("https://a.test/1", "https://a.test/2")
	w.wantSent(w.dispatch(1)) // it is 21:30 there
	w.pass(time.Hour)
	w.wantSent(w.dispatch(1), "https://a.test/1")
	w.reopen(0, true)
	w.wantSent(w.dispatch(1)) // 13:00
	w.pass(8*time.Hour + 30*time.Minute)
	w.reopen(9*time.Hour+30*time.Minute, true)
	w.wantSent(w.dispatch(1)) // 07:00 there, 15 hours before its hours begin
	w.reopen(0, true)
	w.pass(29 * time.Minute)
	w.wantSent(w.dispatch(1)) // 21:59
	w.pass(time.Duration(lookAgain))
	w.wantSent(w.dispatch(1), "https://a.test/2")
}

// The time of the state was lost.
func TestStateWithoutATimeGoesOnFromItsLastChange(t *testing.T) {
	for _, skew := range skews() {
		t.Run(skew.String(), func(t *testing.T) {
			t.Parallel()
			w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Delay = crawlspec.Duration(time.Second) })
			w.seed("https://a.test/1", "https://a.test/2")
			w.dispatch(1)
			w.result("https://a.test/1", nil)
			w.must(w.store.db.Delete(table.Prefix(0, kindTime), pebble.NoSync))
			w.pass(500 * time.Millisecond)
			w.reopen(skew, false)
			w.pass(500 * time.Millisecond)
			w.wantSent(w.dispatch(1)) // it is unknown how long ago that was
			w.pass(500 * time.Millisecond)
			w.wantSent(w.dispatch(1), "https://a.test/2")
		})
	}
}
