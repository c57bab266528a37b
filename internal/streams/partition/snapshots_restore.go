package partition

import (
	"context"
	"fmt"
	"io"

	"seine/pkg/messages"
)

// The following methods restore a backup. Snapshots are stored first, and become the newest of
// their partitions when all of them exist. There are no leases then.

// Put stores the output of write as an object of partition p, which becomes a snapshot only with
// Install. ErrSnapshotsFull says that the bucket is too small for it.
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

// Install makes snap the newest snapshot of its partition, and binds the partition to store.
// ErrStale means that an owner has already continued with the partition.
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

// Reset removes the snapshot of partition p, and binds p to store: a takeover reads the streams
// from their beginning.
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
