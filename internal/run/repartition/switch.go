package repartition

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/humanize"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/jsclient"
	"seine/pkg/stages/partition"
)

// switchOver puts what is new in the place of what is old. All of it may be done again.
func (c *Change) switchOver(ctx context.Context, j *journal) error {
	c.Progress.Say("switching over to %s", humanize.Plural(j.To, "partition"))
	if err := c.install(ctx, j); err != nil {
		return err
	}
	if err := installBudgets(ctx, c.Bus); err != nil {
		return err
	}
	if err := c.at(stepBudgets); err != nil {
		return err
	}
	if err := noteFormer(ctx, c.Bus, j); err != nil {
		return err
	}
	if err := c.empty(ctx, j); err != nil {
		return err
	}
	if err := c.at(stepPurged); err != nil {
		return err
	}
	err := c.Bus.ChangeLayout(ctx, func(l *messages.Layout) {
		if l.Moving != j.To {
			return // it is done
		}
		l.Widest = max(l.Lanes(), j.From, j.To)
		l.Partitions, l.Moving = j.To, 0
	})
	if err != nil {
		return err
	}
	if err := c.at(stepLaidOut); err != nil {
		return err
	}
	return j.remove(ctx, c.Bus)
}

// install makes the snapshots the newest of their partitions, and forgets partitions that are
// no more.
func (c *Change) install(ctx context.Context, j *journal) error {
	snapshots := partition.NewSnapshots(c.Bus)
	for _, snap := range j.Snapshots {
		if err := snapshots.Install(ctx, snap, j.store()); err != nil {
			return err //nolint:wrapcheck // says all
		}
		if err := c.at(stepInstalled); err != nil {
			return err
		}
	}
	for p := j.To; p < j.From; p++ {
		if err := snapshots.Forget(ctx, p); err != nil {
			return err //nolint:wrapcheck // says all
		}
	}
	return nil
}

// empty purges what the frontiers have applied: under the new number, its subjects say
// nothing of whose it is. Consumers of partitions that are no more would keep what comes.
func (c *Change) empty(ctx context.Context, j *journal) error {
	for stream, durable := range map[string]string{messages.StreamURLs: messages.ConsumerURLs, messages.StreamResults: messages.ConsumerResults} {
		s, err := c.Bus.JS.Stream(ctx, stream)
		if err != nil {
			return fmt.Errorf("look at stream %s: %w", stream, err)
		}
		end := j.Ends[stream]
		if s.CachedInfo().Created.Equal(end.Created) && end.Sequence >= s.CachedInfo().State.FirstSeq {
			if err := s.Purge(ctx, jetstream.WithPurgeSequence(end.Sequence+1)); err != nil {
				return fmt.Errorf("purge stream %s: %w", stream, err)
			}
		}
		for p := j.To; p < j.From; p++ {
			name := messages.PartitionConsumer(durable, "", p).Durable
			if err := s.DeleteConsumer(ctx, name); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
				return fmt.Errorf("delete consumer %s of stream %s: %w", name, stream, err)
			}
		}
	}
	return nil
}

// noteFormer notes which number of partitions there was, and up to where in the streams.
func noteFormer(ctx context.Context, b *stages.Bus, j *journal) error {
	kv, err := b.Bucket(ctx, messages.BucketMeta)
	if err != nil {
		return err //nolint:wrapcheck // says all
	}
	err = jsclient.RetryConflicts(ctx, func() error {
		all, rev, err := b.StoredFormerLayouts(ctx)
		if err != nil || slices.ContainsFunc(all, func(f messages.FormerLayout) bool { return f.ID == j.ID }) {
			return err
		}
		all = append(all, messages.FormerLayout{ID: j.ID, Partitions: j.From, Ended: time.Now().UTC(), Ends: j.Ends})
		text, err := json.Marshal(all)
		if err == nil {
			_, err = jsclient.Swap(ctx, kv, messages.KeyFormer, text, rev)
		}
		return err //nolint:wrapcheck // below
	})
	if err != nil {
		return fmt.Errorf("note the former number of partitions: %w", err)
	}
	return nil
}
