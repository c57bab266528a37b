package crawl

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// seedBytes is about how much is published of seeds at a time.
const seedBytes = 256 << 10

// feedSeeds publishes the seeds.
func (c *crawl) feedSeeds(ctx context.Context) error {
	pub := stages.NewPublisher(c.bus, "crawl")
	var batch []byte
	for i := range c.Seeds {
		text, err := json.Marshal(&c.Seeds[i])
		if err != nil {
			return fmt.Errorf("encode seed: %w", err)
		}
		batch = append(append(batch, text...), '\n')
		if len(batch) < seedBytes && i < len(c.Seeds)-1 {
			continue
		}
		if err := pub.Publish(ctx, &nats.Msg{Subject: messages.SubjectSeeds(c.Crawl), Data: batch}); err != nil {
			return fmt.Errorf("publish seeds: %w", err)
		}
		batch = nil
	}
	return nil
}

// URLsOf returns the URLs of seeds.
func URLsOf(seeds []messages.Seed) (urls []string) {
	for i := range seeds {
		urls = append(urls, seeds[i].URL)
	}
	return urls
}
