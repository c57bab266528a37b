package seeds

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Publisher publishes seeds of a crawl in batches. It is not safe for concurrent use.
type Publisher struct {
	Crawl    string
	Priority *int // for seeds without one; nil for the default
	// Fed counts the seeds that NATS has stored.
	Fed int

	ctx     context.Context
	pub     *stages.Publisher
	batch   []byte
	inBatch int
}

// NewPublisher returns a Publisher that works until ctx is done.
func NewPublisher(ctx context.Context, pub *stages.Publisher, crawl string, priority *int) *Publisher {
	return &Publisher{Crawl: crawl, Priority: priority, ctx: ctx, pub: pub}
}

// feedBytes is the approximate size of a batch.
const feedBytes = 256 << 10

// Add adds a canonical seed.
func (p *Publisher) Add(s messages.Seed) error {
	if s.Priority == nil {
		s.Priority = p.Priority
	}
	p.batch = append(append(p.batch, messages.Encode(s)...), '\n')
	p.inBatch++
	if len(p.batch) >= feedBytes {
		return p.Flush()
	}
	return nil
}

// Pending returns the seeds that are not yet published, one per line.
func (p *Publisher) Pending() string { return string(p.batch) }

// Flush publishes the pending seeds.
func (p *Publisher) Flush() error {
	if len(p.batch) == 0 {
		return nil
	}
	err := p.pub.Publish(p.ctx, &nats.Msg{Subject: messages.SubjectSeeds(p.Crawl), Data: p.batch})
	if err != nil {
		return fmt.Errorf("add seeds: %w", err)
	}
	p.Fed, p.inBatch, p.batch = p.Fed+p.inBatch, 0, nil
	return nil
}
