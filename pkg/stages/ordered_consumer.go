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
	// forgetAfter is how long the server keeps an ordered consumer whose process was killed: a stream has a bounded
	// number of consumers, and the client's own 5 minutes let looks add up.
	forgetAfter = 30 * time.Second
	// forgetTime bounds the request to delete it.
	forgetTime = 2 * time.Second
)

// ReadOrdered calls do with an ordered consumer of a stream, and deletes the consumer when do has returned. What reads
// a stream for a while makes its consumer here, so that none is left behind.
func (b *Bus) ReadOrdered(ctx context.Context, stream string, config jetstream.OrderedConsumerConfig, do func(jetstream.Consumer) error) error {
	config.InactiveThreshold, config.NamePrefix = cmp.Or(config.InactiveThreshold, forgetAfter), nuid.Next()
	c, err := b.JS.OrderedConsumer(ctx, stream, config)
	if _, refused := errors.AsType[*PermissionError](context.Cause(ctx)); err != nil {
		if ctx.Err() != nil && !refused { // it may have been made since
			b.ForgetConsumer(ctx, stream, config.NamePrefix+"_1")
		}
		return err
	}
	defer func() { b.ForgetConsumer(ctx, stream, c.CachedInfo().Name) }()
	return do(c)
}

// EachOrdered calls do with the messages that an ordered consumer of a stream would get now, until it returns false.
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
		for left := info.NumPending; left > 0; left-- { // do may cause more
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

// ForgetConsumer deletes a consumer that is not used any more, also when ctx has ended. If that fails, the server does
// so after the consumer's inactivity threshold.
func (b *Bus) ForgetConsumer(ctx context.Context, stream string, name string) {
	if !b.NC.IsConnected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), forgetTime)
	defer cancel()
	_ = b.JS.DeleteConsumer(ctx, stream, name)
}
