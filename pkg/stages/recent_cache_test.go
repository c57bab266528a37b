package stages

import (
	"strconv"
	"testing"

	"seine/pkg/crawlspec"
)

func TestWhatIsMadeOfEndedCrawlsGoes(t *testing.T) {
	made := 0
	c := SpecCache[int]{Make: func(*crawlspec.Spec) int { made++; return made }}
	spec := crawlspec.Default()
	first := c.Get("used", &spec)
	for i := range 10 * recentCrawls {
		c.Get("ended"+strconv.Itoa(i), &spec)
		if got := c.Get("used", &spec); got != first {
			t.Fatalf("after %d crawls, it was made anew for one that goes on", i+1)
		}
	}
	if n := len(c.byCrawl.now) + len(c.byCrawl.earlier); n > 2*recentCrawls {
		t.Errorf("there is something of %d crawls in memory", n)
	}
}
