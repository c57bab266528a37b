package crawl

import (
	"context"

	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

// againState is the state of a crawl for --again.
type againState int

const (
	ended         againState = iota // all pages are visited again
	notBegun                        // this is the first visit
	underWay                        // the first visit was interrupted
	visitingAgain                   // a run over all pages was interrupted
	cancelled
)

// againStateOf returns the state of a crawl.
func againStateOf(spec *crawlspec.Spec, n *frontierapi.CrawlStatus) againState {
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

// visitAgain starts a run over all pages, unless the crawl was interrupted: then the same command
// continues it. It publishes the seeds afterwards.
func (c *crawl) visitAgain(ctx context.Context, spec *crawlspec.Spec, n *frontierapi.CrawlStatus) (err error) {
	switch againStateOf(spec, n) {
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
