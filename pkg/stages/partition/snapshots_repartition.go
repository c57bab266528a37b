package partition

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// What follows is for a change of the number of partitions, and for the restore of a backup: snapshots are
// stored first, and become the newest of their partitions once all of them are there. Whoever does
// so has the leases of all partitions, old and new, or there are none.

// Put stores what write writes as an object of partition p, which is the snapshot of none
// until Install. ErrSnapshotsFull says that the bucket is too small for it.
func (s *Snapshots) Put(ctx context.Context, p int, meta Snapshot, write func(io.Writer) error) (Snapshot, error) {
	box, err := s.objects(ctx)
	if err != nil {
		return meta, err
	}
	meta.Partition, meta.Object = p, objectName(p, meta.Epoch)
	if meta.Bytes, err = box.Put(ctx, meta.Object, meta.Object, write); err != nil {
		box.Discard(ctx, meta.Object, meta.Object)
		if stages.IsFull(err) {
			err = fmt.Errorf("%w: for a while %s must hold the snapshots of the old partitions and of the new: raise its limit (%w)", ErrSnapshotsFull, messages.BucketSnapshots, err)
		}
		return meta, fmt.Errorf("store the state of partition %d: %w", p, err)
	}
	return meta, nil
}

// Install makes snap the newest snapshot of its partition, and binds the partition to store. To do so
// again is safe. ErrStale means that an owner has gone on with the partition already.
func (s *Snapshots) Install(ctx context.Context, snap Snapshot, store string) error {
	have, err := s.recorded(ctx, snap.Partition)
	if err != nil {
		return err
	}
	if err := have.refuses(snap.Epoch); err != nil {
		return err
	}
	if have.Object != snap.Object {
		snap.Fence = snap.Epoch
		if _, err := s.update(ctx, snap, have.revision); err != nil {
			return fmt.Errorf("record the state of partition %d: %w", snap.Partition, err)
		}
		if err := s.remove(ctx, have.Object); err != nil {
			return err
		}
	}
	bound, err := s.Binding(ctx, snap.Partition)
	if err != nil || bound.Store == store {
		return err
	}
	_, err = s.Rebind(ctx, snap.Partition, bound, store, snap.Epoch)
	return err
}

// Reset makes p a partition that has no snapshot, and binds it to store: whoever takes it over reads the
// streams from their beginning.
func (s *Snapshots) Reset(ctx context.Context, p int, epoch uint64, store string) error {
	kv, err := s.bus.JS.KeyValue(ctx, messages.BucketMeta)
	if err != nil {
		return fmt.Errorf("open bucket %s: %w", messages.BucketMeta, err)
	}
	if err := kv.Purge(ctx, snapshotKey(p)); err != nil {
		return fmt.Errorf("forget the snapshot of partition %d: %w", p, err)
	}
	bound, err := s.Binding(ctx, p)
	if err != nil {
		return err
	}
	_, err = s.Rebind(ctx, p, bound, store, epoch)
	return err
}

// Forget removes all that is known of a partition that is none any more.
func (s *Snapshots) Forget(ctx context.Context, p int) error {
	have, err := s.recorded(ctx, p)
	if err != nil {
		return err
	}
	kv, err := s.bus.JS.KeyValue(ctx, messages.BucketMeta)
	if err != nil {
		return fmt.Errorf("open bucket %s: %w", messages.BucketMeta, err)
	}
	for _, key := range []string{snapshotKey(p), bindingKey(p)} {
		if err := kv.Purge(ctx, key); err != nil {
			return fmt.Errorf("forget partition %d: %w", p, err)
		}
	}
	return s.remove(ctx, have.Object)
}

// Sweep removes the objects of a partition that its record does not name: what an attempt to
// change the number of partitions has left.
func (s *Snapshots) Sweep(ctx context.Context, p int, epoch uint64) error {
	have, err := s.recorded(ctx, p)
	if err != nil {
		return err
	}
	box, err := s.objects(ctx)
	if err != nil {
		return err
	}
	left, err := unrecorded(ctx, box, p, epoch, have.Object)
	for i := 0; err == nil && i < len(left); i++ {
		err = s.remove(ctx, left[i])
	}
	return err
}

// remove removes an object that may be gone.
func (s *Snapshots) remove(ctx context.Context, object string) error {
	if object == "" {
		return nil
	}
	box, err := s.objects(ctx)
	if err != nil {
		return err
	}
	if err := box.Remove(ctx, object, object); err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return fmt.Errorf("remove snapshot %s: %w", object, err)
	}
	return nil
}
