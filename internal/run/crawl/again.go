package crawl

import (
	"context"

	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

// visitAgain starts a run over everything, unless the crawl was interrupted, perhaps in
// such a run: then the same command goes on. The seeds come after that is decided.
func (c *crawl) visitAgain(ctx context.Context, spec *crawlspec.Spec, n *frontierapi.CrawlStatus) (err error) {
	switch why, first := notAgain(spec, n); {
	case why != "":
		c.Log.Warn("nothing is visited again", "crawl", c.Crawl, "why", why, "open", n.Pending())
	case first:
		c.Log.Info("nothing was visited before: this is the first visit", "crawl", c.Crawl)
	default:
		c.specRev, err = c.specs.Change(ctx, c.Crawl, func(s *crawlspec.Spec) error {
			s.Again = max(c.began.Unix(), n.Run+1, s.Again+1)
			return nil
		})
	}
	if err != nil {
		return err
	}
	return c.feedSeeds(ctx)
}

// notAgain says why nothing is visited again of a crawl that stands so, and whether it
// is visited for the first time.
func notAgain(spec *crawlspec.Spec, n *frontierapi.CrawlStatus) (why string, first bool) {
	switch {
	case spec.State == crawlspec.Cancelled:
		why = "it is cancelled: seine resume takes that back"
	case n.Pending() > 0, n.VisitingAll:
		why = "it had not ended: it goes on"
	}
	return why, n.Known() == 0
}
