package records

import (
	"cmp"
	"context"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// tailPull is the number of messages fetched at a time. It bounds the memory for a slow reader.
const tailPull = 64

// Tail calls do for each selected record from now on, as JSON, until do returns false or ctx is
// done. A record arrives as often as the stream has it: once, except for a page that was parsed
// again after a crash.
func Tail(ctx context.Context, bus *stages.Bus, c Choice, do func(record []byte) bool) error {
	config := jetstream.OrderedConsumerConfig{FilterSubjects: []string{c.subject()}, DeliverPolicy: jetstream.DeliverNewPolicy}
	return wrapped(bus.ReadOrdered(ctx, messages.StreamRecords, config, func(consumer jetstream.Consumer) error {
		return c.tail(ctx, consumer, do)
	}))
}

func (c Choice) tail(ctx context.Context, consumer jetstream.Consumer, do func(record []byte) bool) error {
	it, err := consumer.Messages(jetstream.PullMaxMessages(tailPull))
	if err != nil {
		return err
	}
	defer it.Stop()
	for {
		m, err := it.Next(jetstream.NextContext(ctx))
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		for _, p := range c.parts(m) {
			if !do(p.Data) {
				return nil
			}
		}
	}
}

// from returns the configuration of a consumer for the selected records from a sequence on.
func (c Choice) from(first uint64) jetstream.OrderedConsumerConfig {
	return jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{c.subject()}, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: first,
	}
}

// subject returns the filter for messages that may contain selected records.
func (c Choice) subject() string { return "seine.records." + cmp.Or(c.Crawl, "*") + ".*" }

// parts returns the selected records of a message.
func (c Choice) parts(m jetstream.Msg) []*stages.Message {
	whole := &stages.Message{Header: m.Headers(), Data: m.Data()}
	parts, _ := whole.Parts() // the writer reports errors
	return slices.DeleteFunc(parts, func(p *stages.Message) bool {
		return c.Kind != "" && messages.RecordKind(p.Header, p.Data) != c.Kind
	})
}
