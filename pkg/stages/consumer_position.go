package stages

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
)

// consumerPosition is how far a consumer had acknowledged its stream, under messages.KeyPosition: a consumer that was deleted
// continues there when it is created again. From the beginning it would deliver messages that were handled, and whose bodies are gone.
type consumerPosition struct {
	Stream  string    `json:"stream"`  // when the stream was made, by jsclient.Made
	Created time.Time `json:"created"` // the consumer
	Acked   uint64    `json:"acked"`   // up to this sequence in the stream
}

// continueConsumer has a consumer that was created again continue where the one before it was, and notes how far it is.
func (b *Bus) continueConsumer(ctx context.Context, c *jetstream.ConsumerInfo) error {
	key := messages.KeyPosition(c.Stream, c.Name)
	if key == "" {
		return nil
	}
	stream, err := StreamInfo(ctx, b, c.Stream)
	if err != nil || stream == nil {
		return err // a stream that is missing will be noticed
	}
	var was consumerPosition
	if _, err := b.ReadJSON(ctx, messages.BucketMeta, key, &was); err != nil {
		return fmt.Errorf("read how far consumer %s of stream %s was: %w", c.Name, c.Stream, err)
	}
	is := consumerPosition{jsclient.Made(stream), c.Created, c.AckFloor.Stream}
	if was.Stream == is.Stream && !was.Created.Equal(is.Created) && was.Acked > is.Acked && was.Acked <= stream.State.LastSeq {
		b.Log.Warn("a consumer was deleted: it continues behind what it had acknowledged", "stream", c.Stream, "consumer", c.Name, "sequence", was.Acked)
		if _, err := b.JS.ResetConsumerToSequence(ctx, c.Stream, c.Name, was.Acked+1); err != nil {
			return fmt.Errorf("continue consumer %s of stream %s behind message %d: %w", c.Name, c.Stream, was.Acked, err)
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
		return fmt.Errorf("note how far consumer %s of stream %s is: %w", c.Name, c.Stream, err)
	}
	return nil
}
