package stages

import (
	"sync"

	"seine/internal/weburl"
	"seine/pkg/messages"
)

// Normalizers keeps, for each crawl, the rules for what URLs are one, compiled.
// It is ready for use and safe for concurrent use.
type Normalizers struct {
	byCrawl sync.Map // name → *normalizer
}

type normalizer struct {
	spec *messages.Spec // it was compiled from: each revision has its own
	urls *weburl.Normalizer
}

// Of returns the rules in a spec of the crawl, nil if there are none.
func (c *Normalizers) Of(crawl string, spec *messages.Spec) *weburl.Normalizer {
	if v, ok := c.byCrawl.Load(crawl); ok {
		if n := v.(*normalizer); n.spec == spec {
			return n.urls
		}
	}
	n := &normalizer{spec, weburl.NewNormalizer(weburl.NormalizeOptions{
		DropTracking: spec.Normalize.DropTracking, DropSessions: spec.Normalize.DropSessions,
		DropParameters: spec.Normalize.DropParameters, SortQuery: spec.Normalize.SortQuery,
	})}
	c.byCrawl.Store(crawl, n)
	return n.urls
}
