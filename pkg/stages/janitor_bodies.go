package stages

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
)

// sweepBodies deletes large bodies that have been read, the oldest first, as
// the same budget says. What has not been read stays, whatever its age: neither
// by the parser, which marks it, nor by a durable consumer of PAGES such as an
// archive's writer, which may be behind the parser.
func (j *Janitor) sweepBodies(ctx context.Context) error {
	store, err := j.Bus.JS.ObjectStore(ctx, messages.BucketBodies)
	if err != nil {
		return fmt.Errorf("open object store %s: %w", messages.BucketBodies, err)
	}
	status, err := store.Status(ctx)
	if err != nil {
		return fmt.Errorf("look at object store %s: %w", messages.BucketBodies, err)
	}
	if status.Size() == 0 {
		return nil
	}
	bodies, err := store.List(ctx)
	if err != nil {
		return fmt.Errorf("list object store %s: %w", messages.BucketBodies, err)
	}
	slices.SortFunc(bodies, func(a, b *jetstream.ObjectInfo) int { return a.ModTime.Compare(b.ModTime) })
	pending, err := j.firstPending(ctx, messages.StreamPages)
	if err != nil {
		return err
	}
	excess := float64(status.Size()) - float64(j.BodiesBytes)*j.KeepShare
	for _, b := range bodies {
		read, err := time.Parse(time.RFC3339, b.Metadata[messages.BodyReadAt])
		// A page may be delivered once more after its body was marked.
		if err != nil || time.Since(read) < 2*messages.AckWait {
			continue
		}
		if !pending.IsZero() && !b.ModTime.Before(pending) { // it was marked when its page had been stored
			continue
		}
		if excess <= 0 && time.Since(read) < j.KeepAge {
			continue
		}
		if err := store.Delete(ctx, b.Name); err != nil {
			return fmt.Errorf("delete body %s: %w", b.Name, err)
		}
		excess -= float64(b.Size)
	}
	return nil
}

// firstPending returns when the first message of a stream was stored that some
// durable consumer has not acknowledged, the zero time if there is none.
func (j *Janitor) firstPending(ctx context.Context, stream string) (time.Time, error) {
	s, err := j.Bus.JS.Stream(ctx, stream)
	if err != nil {
		return time.Time{}, fmt.Errorf("look at stream %s: %w", stream, err)
	}
	last := s.CachedInfo().State.LastSeq
	read, _, _, err := j.readBy(ctx, s, last)
	if err != nil || read >= last {
		return time.Time{}, err
	}
	m, err := j.Bus.AskLeader(ctx, stream, Lookup{Seq: read + 1, Next: ">"})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return m.Time, nil
}

// BodyRead marks a body of BucketBodies as read by the parser, so that the
// janitor may delete it.
func BodyRead(ctx context.Context, b *Bus, name string) error {
	store, err := b.JS.ObjectStore(ctx, messages.BucketBodies)
	if err != nil {
		return fmt.Errorf("open object store %s: %w", messages.BucketBodies, err)
	}
	info, err := store.GetInfo(ctx, name)
	if err != nil {
		return fmt.Errorf("mark body %s: %w", name, err)
	}
	meta := info.ObjectMeta
	if meta.Metadata == nil {
		meta.Metadata = make(map[string]string)
	}
	meta.Metadata[messages.BodyReadAt] = time.Now().UTC().Format(time.RFC3339)
	if err := store.UpdateMeta(ctx, name, meta); err != nil {
		return fmt.Errorf("mark body %s: %w", name, err)
	}
	return nil
}
