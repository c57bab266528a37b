package stages

import (
	"strconv"
	"testing"

	"seine/internal/base/recent"
	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
)

func TestPerSpecMakesOncePerRevision(t *testing.T) {
	c := SpecCache[*weburl.Normalizer]{Make: (*crawlspec.Spec).Normalizer}
	a, b := crawlspec.Default(), crawlspec.Default()
	b.Normalize = crawlspec.Normalize{}
	first := c.Get("c", &a)
	if first == nil || c.Get("c", &a) != first {
		t.Error("the rules of one spec were compiled twice")
	}
	if c.Get("c", &b) != nil || c.Get("d", &a) == nil {
		t.Error("the rules are not those of the spec")
	}
}

func TestWhatIsMadeOfEndedCrawlsGoes(t *testing.T) {
	made := 0
	c := SpecCache[int]{Make: func(*crawlspec.Spec) int { made++; return made }}
	spec := crawlspec.Default()
	first, ended := c.Get("used", &spec), c.Get("ended", &spec)
	for i := range 3 * recent.DefaultMost {
		c.Get("other"+strconv.Itoa(i), &spec)
		if got := c.Get("used", &spec); got != first {
			t.Fatalf("after %d crawls, it was made anew for one that goes on", i+1)
		}
	}
	if c.Get("ended", &spec) == ended {
		t.Error("what was made for a crawl that has ended is still in memory")
	}
}
