package records

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// tailPull is how many messages are fetched at a time, which bounds what a slow reader makes wait in memory.
const tailPull = 64

// Tail calls do for each record that is chosen and is made from now on, as JSON, until it returns false or ctx is
// done. A record comes as often as the stream has it: once, but for a page that was parsed again after a crash.
func Tail(ctx context.Context, bus *stages.Bus, c Choice, do func(record []byte) bool) error {
	crawl := c.Crawl
	if crawl == "" {
		crawl = "*"
	}
	consumer, err := bus.JS.OrderedConsumer(ctx, messages.StreamRecords, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{"seine.records." + crawl + ".*"}, DeliverPolicy: jetstream.DeliverNewPolicy,
	})
	if err != nil {
		return fmt.Errorf("read RECORDS: %w", err)
	}
	it, err := consumer.Messages(jetstream.PullMaxMessages(tailPull))
	if err != nil {
		return fmt.Errorf("read RECORDS: %w", err)
	}
	defer it.Stop()
	for {
		m, err := it.Next(jetstream.NextContext(ctx))
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read RECORDS: %w", err)
		}
		whole := &stages.Message{Header: m.Headers(), Data: m.Data()}
		parts, err := whole.Parts()
		if err != nil {
			continue // that is for the writer to tell
		}
		for _, p := range parts {
			if kind := messages.RecordKind(p.Header, p.Data); (c.Kind == "" || kind == c.Kind) && !do(p.Data) {
				return nil
			}
		}
	}
}
