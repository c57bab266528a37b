package deadletters

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Drop removes a letter.
func Drop(ctx context.Context, bus *stages.Bus, seq uint64) error {
	s, err := bus.JS.Stream(ctx, messages.StreamDead)
	if err != nil {
		return fmt.Errorf("open DEAD: %w", err)
	}
	return drop(ctx, s, seq)
}

func drop(ctx context.Context, dead jetstream.Stream, seq uint64) error {
	err := dead.DeleteMsg(ctx, seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return fmt.Errorf("%d: %w", seq, ErrNone)
	}
	if err != nil {
		return fmt.Errorf("remove dead letter %d: %w", seq, err)
	}
	return nil
}

// dropParallel is the number of letters that DropAll removes in parallel.
const dropParallel = 64

// DropAll removes the current letters that f selects, and returns their number. Without Reason,
// Host and Since it lets the server select them, which is faster.
func DropAll(ctx context.Context, bus *stages.Bus, f Filter) (n int, err error) {
	s, err := bus.JS.Stream(ctx, messages.StreamDead)
	if err != nil {
		return 0, fmt.Errorf("open DEAD: %w", err)
	}
	if f == (Filter{Stage: f.Stage, Crawl: f.Crawl}) {
		return purge(ctx, bus, f, s.CachedInfo().State.LastSeq)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(dropParallel)
	err = Each(ctx, bus, f, func(l *DeadLetter) error {
		n++
		g.Go(func() error {
			if err := drop(ctx, s, l.Seq); !errors.Is(err, ErrNone) {
				return err
			}
			return nil
		})
		return nil
	})
	return n, errors.Join(g.Wait(), err)
}

// purge removes the letters of a stage and a crawl up to a sequence.
func purge(ctx context.Context, bus *stages.Bus, f Filter, last uint64) (n int, err error) {
	request := jetstream.StreamPurgeRequest{Sequence: last + 1}
	if f != (Filter{}) {
		request.Subject = f.subject()
	}
	var answer struct {
		Error  *jetstream.APIError `json:"error"`
		Purged int                 `json:"purged"`
	}
	if err = bus.APIRequest(ctx, "STREAM.PURGE."+messages.StreamDead, request, &answer); err == nil && answer.Error != nil {
		err = answer.Error
	}
	if err != nil {
		return 0, fmt.Errorf("purge DEAD: %w", err)
	}
	return answer.Purged, nil
}
