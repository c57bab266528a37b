package stages

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"seine/pkg/messages"
	"seine/pkg/stages/jsclient"
)

// Era returns the era of the cluster: see messages.KeyEra.
func (b *Bus) Era(ctx context.Context) (uint64, error) {
	era, _, err := b.era(ctx)
	return era, err
}

// lossApart is how many eras, which are seconds, lie between two that losses begin.
const lossApart = 10

// NoteLoss begins an era because a stream has lost messages that were read, unless one has begun a moment ago: several
// processes notice the same loss.
func (b *Bus) NoteLoss(ctx context.Context) error {
	era, err := b.Era(ctx)
	if now := messages.EraAt(time.Now()); err != nil || now >= era && now < era+lossApart {
		return err
	}
	b.Log.Warn("messages were lost that had been read: visits that begin now have identities of a new era")
	return b.BeginEra(ctx)
}

// BeginEra begins an era that the cluster never had.
func (b *Bus) BeginEra(ctx context.Context) error {
	return jsclient.RetryConflicts(ctx, func() error { //nolint:wrapcheck // says all
		era, rev, err := b.era(ctx)
		if err != nil {
			return err
		}
		kv, err := b.Bucket(ctx, messages.BucketMeta)
		if err == nil {
			_, err = jsclient.Swap(ctx, kv, messages.KeyEra, strconv.AppendUint(nil, max(messages.EraAt(time.Now()), era+1), 10), rev)
		}
		if err != nil {
			return fmt.Errorf("write era: %w", err)
		}
		return nil
	})
}

func (b *Bus) era(ctx context.Context) (era, rev uint64, err error) {
	text, rev, err := b.ReadKey(ctx, messages.BucketMeta, messages.KeyEra)
	if err == nil && rev > 0 {
		era, err = strconv.ParseUint(string(text), 10, 64)
	}
	if err == nil && era > messages.MaxEra {
		err = fmt.Errorf("%d is beyond %d", era, messages.MaxEra)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read era: %w", err)
	}
	return era, rev, nil
}
