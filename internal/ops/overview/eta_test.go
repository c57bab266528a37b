package overview

import (
	"testing"
	"time"

	"seine/pkg/stages/frontier/frontierapi"
)

// The remaining time of a crawl is at least that of the longest host queue at the host's rate.
func TestSetRate_SlowHost_BoundsTheETA(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	queue := func(crawl string, queued int, delayMS int64) frontierapi.HostStatus {
		return frontierapi.HostStatus{DelayMS: delayMS, MeanMS: 500, Crawls: []frontierapi.HostWork{{Crawl: crawl, Queued: queued}}}
	}
	for name, c := range map[string]struct {
		hosts []frontierapi.HostStatus
		want  time.Duration
	}{
		"rate alone":      {nil, 60 * time.Second},
		"slow host":       {[]frontierapi.HostStatus{queue("c", 5, 1000), queue("c", 100, 2500)}, 300 * time.Second},
		"fast host":       {[]frontierapi.HostStatus{queue("c", 5, 1000)}, 60 * time.Second},
		"of other crawls": {[]frontierapi.HostStatus{queue("other", 1000, 1000)}, 60 * time.Second},
		"without delay":   {[]frontierapi.HostStatus{queue("c", 1000, 0)}, 60 * time.Second},
	} {
		o := Overview{At: at, Hosts: &frontierapi.Survey{Longest: c.hosts}}
		crawl := Crawl{Name: "c", State: Running}
		crawl.Queued = 600
		if o.SetRate(&crawl, 10); crawl.ETA.Sub(at) != c.want {
			t.Errorf("%s: %s, want %s", name, crawl.ETA.Sub(at), c.want)
		}
	}
}
