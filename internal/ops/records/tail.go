package records

import (
	"cmp"
	"context"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// tailPull is how many messages are fetched at a time, which bounds what a slow reader makes wait in memory.
const tailPull = 64

// Tail calls do for each record that is chosen and is made from now on, as JSON, until it returns false or ctx is
// done. A record comes as often as the stream has it: once, but for a page that was parsed again after a crash.
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

// from is a consumer of what is chosen, from a sequence on.
func (c Choice) from(first uint64) jetstream.OrderedConsumerConfig {
	return jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{c.subject()}, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: first,
	}
}

// subject is that of messages with records that may be chosen.
func (c Choice) subject() string { return "seine.records." + cmp.Or(c.Crawl, "*") + ".*" }

// parts are the records of a message that are chosen.
func (c Choice) parts(m jetstream.Msg) []*stages.Message {
	whole := &stages.Message{Header: m.Headers(), Data: m.Data()}
	parts, _ := whole.Parts() // what cannot be read is for the writer to tell
	return slices.DeleteFunc(parts, func(p *stages.Message) bool {
		return c.Kind != "" && messages.RecordKind(p.Header, p.Data) != c.Kind
	})
}
