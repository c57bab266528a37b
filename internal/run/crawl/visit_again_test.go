package crawl

import (
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

// A run over all pages starts after the end of the previous run, but not again if it was
// interrupted, even before its first URL.
func TestRunOverEverythingBeginsWhenTheLastHasEnded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stands frontierapi.CrawlStatus
		state  crawlspec.RunState
		want   againState
	}{
		"complete":             {stands: frontierapi.CrawlStatus{Counters: frontierapi.Counters{Done: 3}}, want: ended},
		"complete once more":   {stands: frontierapi.CrawlStatus{Counters: frontierapi.Counters{Done: 3, Run: 9}}, want: ended},
		"interrupted":          {stands: frontierapi.CrawlStatus{Counters: frontierapi.Counters{Done: 3, Queued: 1}}, want: underWay},
		"in such a run":        {stands: frontierapi.CrawlStatus{Counters: frontierapi.Counters{Done: 3, Queued: 1, Run: 9}}, want: visitingAgain},
		"before its first URL": {stands: frontierapi.CrawlStatus{Counters: frontierapi.Counters{Done: 3}, VisitingAll: true}, want: visitingAgain},
		"cancelled":            {stands: frontierapi.CrawlStatus{Counters: frontierapi.Counters{Done: 3}}, state: crawlspec.Cancelled, want: cancelled},
		"cancelled, new":       {state: crawlspec.Cancelled, want: cancelled},
		"new":                  {want: notBegun},
	} {
		spec := crawlspec.Default()
		spec.State = tt.state
		if got := againStateOf(&spec, &tt.stands); got != tt.want {
			t.Errorf("%s: it stands as %d, want %d", name, got, tt.want)
		}
	}
}
