package overview

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"seine/internal/streams/jsclient"
	"seine/pkg/stages"
)

// oldest finds since when a message has waited for each stage. For a consumer that acknowledges in
// order, that is the first unacknowledged message; otherwise the first undelivered one, because a
// worker may hold a message for long, for example while it waits for a host.
type oldest struct {
	mu      sync.Mutex
	byStage map[string]time.Time
}

// firstWaiting reads the first message that waits for a consumer, if there is one.
func (o *oldest) firstWaiting(ctx context.Context, bus *stages.Bus, stage string, c *jetstream.ConsumerInfo) error {
	after, waiting := c.Delivered.Stream, c.NumPending > 0
	if c.Config.AckPolicy == jetstream.AckAllPolicy {
		after, waiting = c.AckFloor.Stream, waiting || c.NumAckPending > 0
	}
	if !waiting {
		return nil
	}
	m, err := bus.ReadFromLeader(ctx, c.Stream, jsclient.Lookup{Seq: after + 1, Next: c.Config.FilterSubject})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil // it was read meanwhile
	}
	if err != nil {
		return fmt.Errorf("read the oldest message for %s: %w", c.Config.Durable, err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if t := o.byStage[stage]; t.IsZero() || m.Time.Before(t) {
		o.byStage[stage] = m.Time
	}
	return nil
}

// maxReads bounds the messages that are read in parallel.
const maxReads = 16

func newOldest() (*oldest, *errgroup.Group) {
	g := new(errgroup.Group)
	g.SetLimit(maxReads)
	return &oldest{byStage: make(map[string]time.Time)}, g
}
