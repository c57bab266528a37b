package seeds

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Publisher feeds seeds to a crawl, many in a message. One goroutine uses it.
type Publisher struct {
	Crawl    string
	Priority *int // of seeds that have none; nil for the default
	// Fed counts those that are safe with NATS.
	Fed int

	ctx     context.Context
	pub     *stages.Publisher
	batch   []byte
	inBatch int
}

// NewPublisher returns one that publishes until ctx is done.
func NewPublisher(ctx context.Context, pub *stages.Publisher, crawl string, priority *int) *Publisher {
	return &Publisher{Crawl: crawl, Priority: priority, ctx: ctx, pub: pub}
}

// feedBytes is about how much is published at a time.
const feedBytes = 256 << 10

// Add takes a seed that is canonical.
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

// Pending is what was taken and not published yet, a seed a line.
func (p *Publisher) Pending() string { return string(p.batch) }

// Flush publishes what was taken.
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
