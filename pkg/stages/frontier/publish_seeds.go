package frontier

import (
	"context"

	"github.com/nats-io/nats.go"

	"seine/pkg/messages"
)

// postSeeds publishes the seeds that are due.
func (p *partitionLoop) postSeeds() {
	seeds := p.state.Seeds.Pending()
	if len(seeds) == 0 {
		return
	}
	select {
	case p.seedBatches <- seeds:
		p.state.Seeds.MarkTaken()
	default: // the next turn tries again
	}
}

// publishSeeds publishes seeds of specs to URLS, one message after the other. A full stream blocks
// this goroutine, and never the loop, which frees the capacity.
func (p *partitionLoop) publishSeeds(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case batch := <-p.seedBatches:
			for _, m := range batch {
				if err := p.f.pub.Publish(ctx, &nats.Msg{Subject: messages.SubjectURLs(m.Source, m.Crawl, p.partition), Data: m.Encode()}); err != nil {
					return ignoreDone(ctx, err)
				}
			}
		}
	}
}
