package backup

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Consumer is a durable consumer of a stream. A server can copy consumers with their stream, but
// servers of a cluster may omit them, and assign restored consumers only after they have reported
// the stream as restored (nats-server 2.15.2). A stage that starts before that would create its own
// consumer and read from the beginning.
type Consumer struct {
	Config jetstream.ConsumerConfig `json:"config"`
	// Acked is the sequence in the stream up to which all messages are acknowledged.
	Acked uint64 `json:"acked"`
}

// durableConsumers returns the durable consumers of a stream. It returns none for the stream of a
// bucket.
func durableConsumers(ctx context.Context, b *stages.Bus, stream string) (all []Consumer, err error) {
	if isBucket(stream) {
		return nil, nil
	}
	err = jsclient.RetryUnavailable(ctx, func(ctx context.Context) error {
		have, err := b.Consumers(ctx, stream)
		all = nil
		for _, c := range have {
			if c.Config.Durable != "" {
				all = append(all, Consumer{c.Config, c.AckFloor.Stream})
			}
		}
		return err
	})
	return all, err
}

// consumers re-creates the consumers of a stream. Each continues after its last acknowledged
// message.
func (r *Restore) consumers(ctx context.Context, s Stream) error {
	for _, c := range s.Consumers {
		r.Progress.report("restoring consumer %s of %s", c.Config.Durable, s.Name)
		err := jsclient.RetryUnavailable(ctx, func(ctx context.Context) error { return r.consumer(ctx, s.Name, c) })
		if err != nil {
			return fmt.Errorf("restore consumer %s of stream %s: %w", c.Config.Durable, s.Name, err)
		}
	}
	return nil
}

func (r *Restore) consumer(ctx context.Context, stream string, c Consumer) (err error) {
	if r.Replicas > 0 {
		c.Config.Replicas = 0 // as many as the stream has
	}
	all := c.Config.DeliverPolicy == jetstream.DeliverAllPolicy
	if !all { // of another application; its start position no longer matters
		c.Config.DeliverPolicy, c.Config.OptStartSeq, c.Config.OptStartTime = jetstream.DeliverByStartSequencePolicy, c.Acked+1, nil
	}
	if c.Config.DeliverSubject == "" {
		_, err = r.Bus.JS.CreateOrUpdateConsumer(ctx, stream, c.Config)
	} else {
		_, err = r.Bus.JS.CreateOrUpdatePushConsumer(ctx, stream, c.Config)
	}
	if err == nil && all {
		_, err = r.Bus.JS.ResetConsumerToSequence(ctx, stream, c.Config.Durable, c.Acked+1)
	}
	return err
}

// forgetPositions removes consumer positions from BucketMeta. That bucket was copied after the
// consumers, so its positions may be ahead of them.
func (r *Restore) forgetPositions(ctx context.Context, m *Manifest) error {
	for _, s := range m.Streams {
		for _, c := range s.Consumers {
			key := messages.KeyPosition(s.Name, c.Config.Durable)
			if key == "" {
				continue
			}
			err := jsclient.RetryUnavailable(ctx, func(ctx context.Context) error {
				kv, err := r.Bus.Bucket(ctx, messages.BucketMeta)
				if err == nil {
					err = kv.Delete(ctx, key)
				}
				return err
			})
			if err != nil {
				return fmt.Errorf("remove key %s of bucket %s: %w", key, messages.BucketMeta, err)
			}
		}
	}
	return nil
}
