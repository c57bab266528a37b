package crawl

import (
	"context"

	"seine/pkg/messages"
	"seine/pkg/stages/frontier"
)

// visitAgain starts a run over everything, unless the crawl was interrupted, perhaps in
// such a run: then the same command goes on. The seeds come after that is decided.
func (c *crawl) visitAgain(ctx context.Context, spec *messages.Spec, n *frontier.Counters) (err error) {
	switch {
	case spec.State == messages.Cancelled:
		c.Log.Warn("the crawl is cancelled, nothing is visited again: seine resume takes that back", "crawl", c.Crawl)
	case n.Open() > 0:
		c.Log.Warn("the crawl had not ended: it goes on, and nothing is visited again", "crawl", c.Crawl, "open", n.Open())
	case n.Known() > 0:
		c.specRev, err = c.specs.Change(ctx, c.Crawl, func(s *messages.Spec) error {
			s.Again = max(c.began.Unix(), n.Run+1, s.Again+1)
			return nil
		})
	}
	if err != nil {
		return err
	}
	return c.feedSeeds(ctx)
}
