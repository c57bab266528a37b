package state

import (
	"testing"
	"time"

	"seine/pkg/crawlspec"
)

// Inspecting a stored crawl starts no run, however overdue its schedule is: the crawl does that
// when it continues.
func TestLookIntoAStoredCrawlBeginsNoRun(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Schedule = "@every 6h" })
	w.finished()
	w.part.offline = true
	w.pass(24 * time.Hour)
	w.tend()
	if n := len(w.runs()); n != 1 {
		t.Errorf("there are %d runs after a look, want the first alone", n)
	}
	w.restart()
	w.tend()
	if n := len(w.runs()); n != 2 {
		t.Errorf("there are %d runs when the crawl goes on, want another", n)
	}
}
