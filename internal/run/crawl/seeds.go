package crawl

import (
	"context"

	"seine/internal/ops/seeds"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// feedSeeds publishes the seeds.
func (c *crawl) feedSeeds(ctx context.Context) error {
	p := seeds.NewPublisher(ctx, stages.NewPublisher(c.bus, "crawl"), c.Crawl, nil)
	for i := range c.Seeds {
		if err := p.Add(c.Seeds[i]); err != nil {
			return err
		}
	}
	return p.Flush()
}

// URLsOf returns the URLs of the seeds.
func URLsOf(seeds []messages.Seed) (urls []string) {
	for i := range seeds {
		urls = append(urls, seeds[i].URL)
	}
	return urls
}
