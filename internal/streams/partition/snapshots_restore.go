package partition

import (
	"context"
	"fmt"
	"io"

	"seine/pkg/messages"
)

// What follows is for the restore of a backup: snapshots are stored first, and become the newest of their partitions once all of
// them are there. There are no leases then.

// Put stores what write writes as an object of partition p, which is the snapshot of none
// until Install. ErrSnapshotsFull says that the bucket is too small for it.
func (s *Snapshots) Put(ctx context.Context, p int, meta Snapshot, write func(io.Writer) error) (Snapshot, error) {
	box, err := s.objects(ctx)
	if err != nil {
		return meta, err
	}
	meta.Partition, meta.Object = p, objectName(p, meta.Epoch)
	if meta.Bytes, err = putObject(ctx, box, meta.Object, write); err != nil {
		return meta, fmt.Errorf("store the state of partition %d: %w", p, err)
	}
	return meta, nil
}

// Install makes snap the newest snapshot of its partition, and binds the partition to store. ErrStale means that an owner has gone
// on with the partition already.
func (s *Snapshots) Install(ctx context.Context, snap Snapshot, store string) error {
	have, err := s.recorded(ctx, snap.Partition)
	if err != nil {
		return err
	}
	if err := have.refuses(snap.Epoch); err != nil {
		return err
	}
	snap.Fence = snap.Epoch
	if _, err := s.update(ctx, snap, have.revision); err != nil {
		return fmt.Errorf("record the state of partition %d: %w", snap.Partition, err)
	}
	return s.bind(ctx, snap.Partition, snap.Epoch, store)
}

// Reset makes p a partition that has no snapshot, and binds it to store: a takeover reads the
// streams from their beginning.
func (s *Snapshots) Reset(ctx context.Context, p int, epoch uint64, store string) error {
	kv, err := s.bus.JS.KeyValue(ctx, messages.BucketMeta)
	if err != nil {
		return fmt.Errorf("open bucket %s: %w", messages.BucketMeta, err)
	}
	if err := kv.Purge(ctx, snapshotKey(p)); err != nil {
		return fmt.Errorf("forget the snapshot of partition %d: %w", p, err)
	}
	return s.bind(ctx, p, epoch, store)
}

func (s *Snapshots) bind(ctx context.Context, p int, epoch uint64, store string) error {
	bound, err := s.Binding(ctx, p)
	if err == nil {
		_, err = s.Rebind(ctx, p, bound, store, epoch)
	}
	return err
}
