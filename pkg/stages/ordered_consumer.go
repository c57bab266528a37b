package stages

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

const (
	// forgetAfter is how long the server keeps an ordered consumer whose process was killed. A
	// stream has a bounded number of consumers, and with the client's default of 5 minutes those of
	// short reads would accumulate.
	forgetAfter = 30 * time.Second
	// forgetTime bounds the request that deletes the consumer.
	forgetTime = 2 * time.Second
)

// ReadOrdered calls do with an ordered consumer of a stream, and deletes the consumer when do has
// returned. Temporary readers create their consumers here, so that none is left behind.
func (b *Bus) ReadOrdered(ctx context.Context, stream string, config jetstream.OrderedConsumerConfig, do func(jetstream.Consumer) error) error {
	config.InactiveThreshold, config.NamePrefix = cmp.Or(config.InactiveThreshold, forgetAfter), nuid.Next()
	c, err := b.JS.OrderedConsumer(ctx, stream, config)
	if _, refused := errors.AsType[*PermissionError](context.Cause(ctx)); err != nil {
		if ctx.Err() != nil && !refused { // the consumer may have been created since
			b.ForgetConsumer(ctx, stream, config.NamePrefix+"_1")
		}
		return err
	}
	defer func() { b.ForgetConsumer(ctx, stream, c.CachedInfo().Name) }()
	return do(c)
}

// EachOrdered calls do with the messages that are in a stream for an ordered consumer now, until do
// returns false.
func (b *Bus) EachOrdered(ctx context.Context, stream string, config jetstream.OrderedConsumerConfig, ahead int, do func(jetstream.Msg, *jetstream.MsgMetadata) bool) error {
	return b.ReadOrdered(ctx, stream, config, func(c jetstream.Consumer) error {
		info, err := c.Info(ctx)
		if err != nil || info.NumPending == 0 {
			return err
		}
		it, err := c.Messages(jetstream.PullMaxMessages(ahead))
		if err != nil {
			return err
		}
		defer it.Stop()
		for left := info.NumPending; left > 0; left-- { // do may cause more messages
			m, err := it.Next(jetstream.NextContext(ctx))
			if err != nil {
				return err
			}
			at, err := m.Metadata()
			if err != nil || !do(m, at) || at.NumPending == 0 {
				return err
			}
		}
		return nil
	})
}

// ForgetConsumer deletes a consumer that is no longer used, even if ctx is done. If that fails, the
// server deletes it after the consumer's inactivity threshold.
func (b *Bus) ForgetConsumer(ctx context.Context, stream string, name string) {
	if !b.NC.IsConnected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), forgetTime)
	defer cancel()
	_ = b.JS.DeleteConsumer(ctx, stream, name)
}
