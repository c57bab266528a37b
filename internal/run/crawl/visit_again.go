package crawl

import (
	"context"

	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

// standing is how a crawl stands that is to be visited again.
type standing int

const (
	ended         standing = iota // all of it is visited once more
	notBegun                      // this is its first visit
	underWay                      // its first visit was interrupted
	visitingAgain                 // a run over everything was interrupted
	cancelled
)

// standingOf says how a crawl stands.
func standingOf(spec *crawlspec.Spec, n *frontierapi.CrawlStatus) standing {
	open := n.Pending() > 0
	switch {
	case spec.State == crawlspec.Cancelled:
		return cancelled
	case n.VisitingAll, open && n.Run > 0:
		return visitingAgain
	case open:
		return underWay
	case n.Known() == 0:
		return notBegun
	}
	return ended
}

// visitAgain starts a run over everything, unless the crawl was interrupted, perhaps in
// such a run: then the same command continues. The seeds come after that is decided.
func (c *crawl) visitAgain(ctx context.Context, spec *crawlspec.Spec, n *frontierapi.CrawlStatus) (err error) {
	switch standingOf(spec, n) {
	case cancelled:
		c.Log.Warn("no page is visited again", "crawl", c.Crawl, "why", "it is cancelled: seine resume undoes that")
	case underWay:
		c.Log.Warn("the crawl is not complete and continues; run --again once it is complete",
			"crawl", c.Crawl, "open", n.Pending())
	case visitingAgain:
		c.Log.Info("the interrupted run over all pages continues", "crawl", c.Crawl, "open", n.Pending())
	case notBegun:
		c.Log.Info("nothing was visited before: this is the first visit", "crawl", c.Crawl)
	case ended:
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
