package frontier

import (
	"context"
	"errors"
	"fmt"
	"time"

	"seine/internal/frontier/state"
	"seine/internal/streams/partition"
	"seine/pkg/messages"
)

// takeover makes a store the one with the live state of a partition.
type takeover struct{ *Frontier }

// ErrForeignState is returned when the state of a partition is in another store, and cannot be
// restored from a snapshot or from the streams.
var ErrForeignState = errors.New("the state of this partition is in another frontier's store")

// run makes sure that the store has the state of a partition, and is the only one that continues
// with it. The binding of the partition names the store with its state. If that is another store,
// run restores the newest snapshot, and catchUp.replay replays later messages from the streams. It
// does the same if this store lost its last commits in a power failure and is behind the snapshot.
// It reports whether the replay is still to be done.
func (t takeover) run(ctx context.Context, p int, epoch uint64) (restored bool, err error) {
	bound, err := t.snapshots.Binding(ctx, p)
	if err != nil {
		return false, err
	}
	own := bound.Store == "" || bound.Store == t.store.ID
	if !own || t.cfg.SnapshotEvery > 0 {
		if err := t.takeIn(ctx, p, epoch, own, bound.Store); err != nil {
			return false, err
		}
	}
	if _, err = t.snapshots.Rebind(ctx, p, bound, t.store.ID, epoch); err != nil {
		return false, err
	}
	_, restored, err = t.store.Origin(p)
	return restored, err
}

// restoreTries bounds the attempts to find a snapshot that has been replaced.
const restoreTries = 5

// takeIn restores the newest snapshot of a partition, unless the store already has the live state.
// It fences the snapshot first: otherwise a former owner that does not know of its loss could
// replace it at any moment, and later messages could then be purged from the streams.
func (t takeover) takeIn(ctx context.Context, p int, epoch uint64, own bool, from string) error {
	for try := 1; ; try++ {
		snap, found, err := t.snapshots.Fence(ctx, p, epoch)
		if err != nil {
			return err
		}
		if own && !found {
			return nil
		}
		if own {
			if usable, err := t.store.Usable(p, snap.Object, snap.Positions); usable || err != nil {
				return err
			}
		}
		if err = t.restore(ctx, p, snap, found, from); err == nil {
			return t.store.MarkNew(p, snap.Object)
		}
		if !errors.Is(err, partition.ErrSnapshotGone) || try == restoreTries {
			return t.withoutSnapshot(p, own, from, err)
		}
		now, _, nerr := t.snapshots.Newest(ctx, p)
		if nerr != nil || now.Object == snap.Object { // the snapshot was not replaced but lost
			return t.withoutSnapshot(p, own, from, errors.Join(err, nerr))
		}
	}
}

// withoutSnapshot adds to the error of a damaged or lost snapshot from where else the state can be
// restored. To continue without it would lose URLs.
func (t takeover) withoutSnapshot(p int, own bool, from string, err error) error {
	switch {
	case !errors.Is(err, partition.ErrSnapshotDamaged) && !errors.Is(err, partition.ErrSnapshotGone):
		return err
	case own:
		return fmt.Errorf("%w; the --state of this frontier (%s) has partition %d as it was before that: restore a backup of the bucket %s",
			err, t.store.ID, p, messages.BucketSnapshots)
	}
	return fmt.Errorf("%w; the state of partition %d itself is with frontier %s, not %s: start that with the --state it had, or restore a backup of the bucket %s",
		err, p, from, t.store.ID, messages.BucketSnapshots)
}

// restore replaces the state of a partition by its newest snapshot, or by an empty state if there
// is none and the streams are complete.
func (t takeover) restore(ctx context.Context, p int, snap partition.Snapshot, found bool, from string) error {
	began := time.Now()
	if !found {
		purged, err := t.purged(ctx)
		if err != nil {
			return err
		}
		if purged != "" {
			return fmt.Errorf("%w: %s, not %s (start it with the --state it had; or let frontiers make snapshots, with --snapshot-every)",
				ErrForeignState, from, t.store.ID)
		}
		t.log.Info("partition has no snapshot yet, reading its streams from their beginning", "partition", p)
		return t.store.Replace(ctx, p, nil)
	}
	if err := t.loadSnapshot(ctx, p, snap); err != nil {
		return err
	}
	t.log.Info("partition restored from its snapshot", "partition", p, "age", time.Since(snap.Time).Round(time.Second),
		"bytes", snap.Bytes, "took", time.Since(began).Round(time.Millisecond))
	return nil
}

// loadSnapshot replaces a partition of the store by a snapshot.
func (t takeover) loadSnapshot(ctx context.Context, p int, snap partition.Snapshot) error {
	if snap.Format != state.Format {
		return fmt.Errorf("snapshot of partition %d has format %d, this build reads %d", p, snap.Format, state.Format)
	}
	r, err := t.snapshots.Open(ctx, snap)
	if err != nil {
		return err
	}
	defer r.Close()
	return t.store.Replace(ctx, p, r)
}

// purged describes the beginning of a stream that the frontier reads and from which messages were
// purged, "" if none were.
func (f *Frontier) purged(ctx context.Context) (string, error) {
	for _, name := range []string{messages.StreamURLs, messages.StreamResults} {
		s, err := f.bus.JS.Stream(ctx, name)
		if err != nil {
			return "", fmt.Errorf("open stream %s: %w", name, err)
		}
		if st := s.CachedInfo().State; st.FirstSeq > 1 {
			return fmt.Sprintf("%s begins at sequence %d, stored %s", name, st.FirstSeq, st.FirstTime.UTC().Format(time.RFC3339)), nil
		}
	}
	return "", nil
}
