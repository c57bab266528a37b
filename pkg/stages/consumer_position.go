package stages

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
)

// consumerPosition is the last acknowledged position of a consumer, stored under
// messages.KeyPosition. A consumer that was deleted and re-created continues there. Otherwise it
// would redeliver handled messages, whose bodies are gone.
type consumerPosition struct {
	Stream  string    `json:"stream"`  // creation time of the stream, by jsclient.Made
	Created time.Time `json:"created"` // creation time of the consumer
	Acked   uint64    `json:"acked"`   // up to this stream sequence
}

// continueConsumer moves a re-created consumer to the position of its predecessor, and stores the
// present position.
func (b *Bus) continueConsumer(ctx context.Context, c *jetstream.ConsumerInfo) error {
	key := messages.KeyPosition(c.Stream, c.Name)
	if key == "" {
		return nil
	}
	stream, err := StreamInfo(ctx, b, c.Stream)
	if err != nil || stream == nil {
		return err // a missing stream is reported elsewhere
	}
	var was consumerPosition
	if _, err := b.ReadJSON(ctx, messages.BucketMeta, key, &was); err != nil {
		return fmt.Errorf("read the position of consumer %s of stream %s: %w", c.Name, c.Stream, err)
	}
	is := consumerPosition{jsclient.Made(stream), c.Created, c.AckFloor.Stream}
	if was.Stream == is.Stream && !was.Created.Equal(is.Created) && was.Acked > is.Acked && was.Acked <= stream.State.LastSeq {
		b.Log.Warn("consumer was deleted: continuing after its last acknowledged message", "stream", c.Stream, "consumer", c.Name, "sequence", was.Acked)
		if _, err := b.JS.ResetConsumerToSequence(ctx, c.Stream, c.Name, was.Acked+1); err != nil {
			return fmt.Errorf("continue consumer %s of stream %s after message %d: %w", c.Name, c.Stream, was.Acked, err)
		}
		is.Acked = was.Acked
	}
	if is == was {
		return nil
	}
	kv, err := b.Bucket(ctx, messages.BucketMeta)
	if err == nil {
		_, err = kv.Put(ctx, key, messages.Encode(is))
	}
	if err != nil {
		return fmt.Errorf("store the position of consumer %s of stream %s: %w", c.Name, c.Stream, err)
	}
	return nil
}
