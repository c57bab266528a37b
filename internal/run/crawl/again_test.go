package crawl

import (
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

// A run over everything begins where the crawl has ended, and not once more where one was
// interrupted, be it before it came to any URL.
func TestRunOverEverythingBeginsWhenTheLastHasEnded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stands frontierapi.CrawlStatus
		state  crawlspec.RunState
		begins bool
	}{
		"complete":       {stands: frontierapi.CrawlStatus{Counters: frontierapi.Counters{Done: 3}}, begins: true},
		"interrupted":    {stands: frontierapi.CrawlStatus{Counters: frontierapi.Counters{Done: 3, Queued: 1}}},
		"in such a run":  {stands: frontierapi.CrawlStatus{Counters: frontierapi.Counters{Done: 3}, VisitingAll: true}},
		"cancelled":      {stands: frontierapi.CrawlStatus{Counters: frontierapi.Counters{Done: 3}}, state: crawlspec.Cancelled},
		"cancelled, new": {state: crawlspec.Cancelled},
		"new":            {},
	} {
		spec := crawlspec.Default()
		spec.State = tt.state
		if why, first := notAgain(&spec, &tt.stands); (why == "" && !first) != tt.begins {
			t.Errorf("%s: %q, first %t, want that it begins: %t", name, why, first, tt.begins)
		}
	}
}
