package watchdog

import (
	"testing"
	"testing/synctest"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// ends completes a run with products from a number of pages.
func (w *clusterFixture) ends(pages int64) {
	w.seen.Lock()
	defer w.seen.Unlock()
	at := time.Now()
	run := frontierapi.Run{Run: at.Unix(), Started: at, Last: at, Ended: at, Pages: 100, Records: map[string]int64{messages.KindPage: pages}}
	w.runs = append([]frontierapi.Run{run}, w.runs...)
	w.crawl.Queued, w.crawl.InFlight, w.crawl.Run, w.crawl.Changed = 0, 0, run.Run, at.UnixMilli()
}

// A low-yield run is reported when it has ended, also by a later leader. Runs are queried only when
// there may be new ones.
func TestRunThatMadeLessIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newClusterFixture()
		for range 4 {
			w.ends(100)
			w.lead(10 * time.Minute)
		}
		w.want(t, "", "")
		if w.askedOf > 8 {
			t.Errorf("runs were asked for %d times", w.askedOf)
		}
		w.ends(0)
		w.runs[0].Ended = time.Time{} // still running
		w.lead(10 * time.Minute)
		w.want(t, "", "")
		w.runs[0].Ended = w.runs[0].Last
		w.lead(10 * time.Minute)
		w.lead(10 * time.Minute)
		w.want(t, "raised yield", "raised yield")
		w.ends(90)
		w.lead(10 * time.Minute)
		w.want(t, "raised yield, cleared yield", "raised yield, cleared yield")
	})
}

// Pages that a spec drops because they are unchanged do not lower the yield.
func TestRunOfDroppedPagesIsNoAlert(t *testing.T) {
	for unchanged, want := range map[crawlspec.Unchanged]string{crawlspec.UnchangedKeep: "raised yield", crawlspec.UnchangedDrop: ""} {
		synctest.Test(t, func(t *testing.T) {
			w := newClusterFixture()
			w.unchanged = unchanged
			for range 4 {
				w.ends(100)
				w.runs[0].Changed = 100
				w.lead(10 * time.Minute)
			}
			w.ends(2)
			w.runs[0].Changed, w.runs[0].Same = 2, 98
			w.lead(10 * time.Minute)
			w.want(t, want, want)
		})
	}
}

// Runs whose records were counted under another spec are not compared with current ones, whoever
// leads.
func TestRunsBeforeASwitchToDroppedPagesAreNotCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newClusterFixture()
		run := func(made, changed int64) {
			w.ends(made)
			w.runs[0].Changed, w.runs[0].Same = changed, 100-changed
			w.lead(10 * time.Minute)
		}
		for range 4 {
			run(100, 2)
		}
		w.unchanged = crawlspec.UnchangedDrop
		w.lead(10 * time.Minute)
		for range 4 {
			run(100, 100)
		}
		w.want(t, "", "")
		run(2, 100)
		w.want(t, "raised yield", "raised yield")
	})
}

func TestDeadLettersOfACrawlAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newClusterFixture()
		w.lead(10 * time.Minute)
		w.crawl.Dead = map[string]uint64{messages.StageParser: 1}
		w.lead(10 * time.Minute)
		w.crawl.Dead = nil
		w.lead(10 * time.Minute)
		w.want(t, "raised dead_letters, cleared dead_letters", "raised dead_letters, cleared dead_letters")
	})
}
