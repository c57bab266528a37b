package replay

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/sleep"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// headerReplay is a header of each message at the side: its copyPosition. So the last message of the stream says how
// far the replay has come.
const headerReplay = "Seine-Replay"

// sideStream stores output in RECORDS at the side, where nobody else publishes.
type sideStream struct {
	bus  *stages.Bus
	last uint64 // sequence of the last message
}

// open opens the stream, and finds out its last sequence.
func (s *sideStream) open(ctx context.Context) (jetstream.Stream, error) {
	stream, err := s.bus.JS.Stream(ctx, messages.StreamRecords)
	if err != nil {
		return nil, fmt.Errorf("open stream %s at the side: %w", messages.StreamRecords, err)
	}
	s.last = stream.CachedInfo().State.LastSeq
	return stream, nil
}

// resume finds out how far the runs before have come.
func (s *sideStream) resume(ctx context.Context) (p copyPosition, err error) {
	stream, err := s.open(ctx)
	if err != nil || s.last == 0 {
		return p, err
	}
	m, err := stream.GetMsg(ctx, s.last)
	if err != nil {
		return p, fmt.Errorf("read how far the replay has come: %w", err)
	}
	if _, err := fmt.Sscan(m.Header.Get(headerReplay), &p.Sequence, &p.Read, &p.Chosen, &p.Part); err != nil {
		return copyPosition{}, fmt.Errorf("read how far the replay has come: message %d at the side does not say it", s.last)
	}
	return p, nil
}

// Waits between attempts to publish what was refused.
const (
	minRefused = 5 * time.Millisecond
	maxRefused = 500 * time.Millisecond
)

// put publishes a batch until it is stored.
func (s *sideStream) put(ctx context.Context, batch []item) error {
	for _, o := range batch {
		o.Header.Set(headerReplay, fmt.Sprintf("%d %d %d %d", o.at.Sequence, o.at.Read, o.at.Chosen, o.at.Part))
	}
	for wait := minRefused; ; wait = min(2*wait, maxRefused) {
		n, err := s.publish(ctx, batch)
		if batch = batch[n:]; err != nil || len(batch) == 0 {
			return err
		}
		if n > 0 {
			wait = minRefused
		}
		if err := sleep.For(ctx, wait); err != nil {
			return err
		}
	}
}

// publish sends a batch once, and returns how many messages of it need not be sent again. Each says which one it follows, so that
// the server takes them in order and none twice, whatever is refused or lost. Its error is one that no further attempt
// repairs.
func (s *sideStream) publish(ctx context.Context, batch []item) (n int, err error) {
	var futures []jetstream.PubAckFuture
	for i, o := range batch {
		future, err := s.bus.JS.PublishMsgAsync(o.Msg, jetstream.WithExpectLastSequence(s.last+uint64(i)))
		if err := stages.Unpublishable(o.Msg, err); err != nil {
			return 0, err
		}
		if err != nil { // the rest must wait for this one
			break
		}
		futures = append(futures, future)
	}
	repeated := make([]bool, len(batch)) // the stream knows the message, and does not store it again
	for i, future := range futures {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case ack := <-future.Ok():
			repeated[i] = ack.Duplicate
		case err := <-future.Err():
			if err := stages.Unpublishable(batch[i].Msg, err); err != nil {
				return 0, err
			}
		}
	}
	before := s.last
	if _, err := s.open(ctx); err != nil {
		return 0, err
	}
	for n = int(s.last - before); n < len(batch) && repeated[n]; n++ {
	}
	return n, nil
}
