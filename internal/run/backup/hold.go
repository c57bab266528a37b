package backup

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"seine/internal/base/sleep"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// held are the streams that a Janitor purges, and whose readers the bodies of pages wait for.
var held = []string{messages.StreamURLs, messages.StreamResults, messages.StreamPages, messages.StreamRecords}

const (
	// holdPrefix is what the names of consumers that hold streams begin with.
	holdPrefix = "backup-"
	// holdForgotten is how long a consumer outlives a process that was killed: until then streams fill up.
	holdForgotten = 2 * time.Minute
	// holdRenewed is how often a consumer is told that it is still wanted.
	holdRenewed = 20 * time.Second
)

// hold keeps what streams have from now on until release is called: a Janitor purges
// nothing that a durable consumer has not acknowledged.
func hold(ctx context.Context, b *stages.Bus) (release func(), err error) {
	name := holdPrefix + nuid.Next()
	ctx, stop := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	release = func() {
		stop()
		renewing.Wait()
		for _, stream := range held {
			removing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			if err := b.JS.DeleteConsumer(removing, stream, name); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
				b.Log.Warn("cannot remove the consumer that holds a stream, the server does so soon", "stream", stream, "consumer", name, "error", err)
			}
			cancel()
		}
	}
	for _, stream := range held {
		c, err := b.JS.CreateConsumer(ctx, stream, jetstream.ConsumerConfig{
			Durable: name, Description: "holds the stream while a backup is made",
			AckPolicy: jetstream.AckExplicitPolicy, DeliverPolicy: jetstream.DeliverAllPolicy,
			MaxAckPending: 1, InactiveThreshold: holdForgotten,
		})
		if err != nil {
			release()
			return nil, fmt.Errorf("hold stream %s: %w", stream, err)
		}
		renewing.Go(func() { renew(ctx, c) })
	}
	return release, nil
}

// renew asks for a message now and then, for a consumer that nobody asks is removed. One is delivered at
// most, as it is never acknowledged.
func renew(ctx context.Context, c jetstream.Consumer) {
	for sleep.For(ctx, holdRenewed) == nil {
		if got, err := c.FetchNoWait(1); err == nil {
			for range got.Messages() { // its delivery is all that is wanted
			}
		}
	}
}

// removeHolds removes the consumers of backups from a stream that was restored.
func removeHolds(ctx context.Context, b *stages.Bus, stream string) error {
	s, err := b.JS.Stream(ctx, stream)
	if err != nil {
		return fmt.Errorf("look at stream %s: %w", stream, err)
	}
	names := s.ConsumerNames(ctx)
	for name := range names.Name() {
		if !strings.HasPrefix(name, holdPrefix) {
			continue
		}
		if err := s.DeleteConsumer(ctx, name); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return fmt.Errorf("remove consumer %s of stream %s: %w", name, stream, err)
		}
	}
	if err := names.Err(); err != nil {
		return fmt.Errorf("list consumers of stream %s: %w", stream, err)
	}
	return nil
}
