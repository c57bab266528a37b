package stages

import (
	"context"
	"fmt"
	"time"

	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
)

// Eras reads and begins eras of the cluster: see messages.KeyEra.
type Eras struct{ *Bus }

// Last returns the current era.
func (e Eras) Last(ctx context.Context) (uint64, error) {
	eras, _, err := e.eras(ctx)
	return eras.Last(), err
}

// lossApart is the minimum distance between two eras begun because of losses, in eras, which are
// seconds.
const lossApart = 10

// NoteLoss begins an era because a stream has lost messages that were read, unless one has begun
// less than lossApart ago: several processes notice the same loss.
func (e Eras) NoteLoss(ctx context.Context) error {
	era, err := e.Last(ctx)
	if now := messages.EraAt(time.Now()); err != nil || now >= era && now < era+lossApart {
		return err
	}
	e.Log.Warn("the stream lost messages that were already read: new visits belong to a new era")
	return e.Begin(ctx)
}

// Begin begins an era that the cluster has never had.
func (e Eras) Begin(ctx context.Context) error {
	return jsclient.RetryConflicts(ctx, func() error {
		eras, rev, err := e.eras(ctx)
		if err != nil {
			return err
		}
		began := eras.Begin(messages.EraAt(time.Now()))
		if _, err := e.SwapKey(ctx, messages.BucketMeta, messages.KeyEra, messages.Encode(began), rev); err != nil {
			return fmt.Errorf("write era: %w", err)
		}
		return nil
	})
}

// All returns the eras of the cluster.
func (e Eras) All(ctx context.Context) (messages.Eras, error) {
	eras, _, err := e.eras(ctx)
	return eras, err
}

func (e Eras) eras(ctx context.Context) (eras messages.Eras, rev uint64, err error) {
	m, err := e.ReadEntry(ctx, messages.BucketMeta, messages.KeyEra)
	if err == nil && m != nil {
		rev = m.Seq
		eras, err = messages.DecodeEras(m.Data, m.Time)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read era: %w", err)
	}
	return eras, rev, nil
}
