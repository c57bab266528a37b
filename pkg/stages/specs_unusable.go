package stages

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// The bucket may hold a spec that this build cannot use, written by a newer build or by a person.
// The crawl then continues with the newest usable spec before it. If there is none, the crawl is
// stalled until a usable spec is stored: the defaults are not what its owner wants.

var specsIgnoredTotal = promauto.NewCounter(prometheus.CounterOpts{
	Name: "seine_specs_ignored_total", Help: "Unusable specs, once for each revision.",
})

// Ignore logs that a revision of a crawl's spec cannot be used, once for each revision.
func (s *Specs) Ignore(crawl string, rev uint64, why error) {
	s.mu.Lock()
	told := s.ignored[crawl] >= rev
	s.ignored[crawl] = max(s.ignored[crawl], rev)
	s.mu.Unlock()
	if told {
		return
	}
	specsIgnoredTotal.Inc()
	s.bus.Log.Error("spec ignored: the crawl uses the last usable spec, or is blocked if there is none; apply a usable spec (seine spec apply)",
		"crawl", crawl, "revision", rev, "error", why)
}

// unlessLost returns the spec of a crawl of which everything is known. It returns a stalled one if
// the bucket had revision rev, and no longer has a spec of the crawl.
func (s *Specs) unlessLost(crawl string, known crawlspec.Revision, rev uint64) crawlspec.Revision {
	if known.Rev >= rev || s.HasOwn(crawl) {
		return known
	}
	why := lostSpec(rev)
	s.Ignore(crawl, rev, why)
	s.mu.Lock()
	s.lost[crawl] = max(s.lost[crawl], rev)
	s.mu.Unlock()
	known.Rev = rev
	return known.Stall(why.Error())
}

// lostSpec returns the reason why a crawl is stalled whose spec at revision rev is lost.
func lostSpec(rev uint64) error {
	return fmt.Errorf("its revision %d is missing in bucket %s: store the spec again (seine spec apply)", rev, messages.BucketCrawls)
}

// keepUnusable records an unusable spec of a crawl whose earlier specs are known. It reports
// whether the crawl is stalled because of it.
func (s *Specs) keepUnusable(crawl string, bad storedSpec) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, known := s.byCrawl[crawl]
	if !known || r.rev >= bad.rev {
		return false
	}
	since := crawlspec.Revision{Deletion: s.deletions[crawl]}.Since()
	if r.still() || r.rev == since { // it has had no usable spec since it began
		s.byCrawl[crawl] = bad
		s.changed(crawl, bad.rev)
		return true
	}
	r.trouble = &specTrouble{why: bad.trouble.why}
	s.byCrawl[crawl] = r
	return false
}
