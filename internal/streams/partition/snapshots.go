package partition

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"seine/internal/base/sleep"
	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Snapshots keeps the newest snapshot of each partition's state in BucketSnapshots. BucketMeta
// records which snapshot that is and which store has the live state. An owner saves one partition
// at a time; apart from that Snapshots is safe for concurrent use, by any number of processes.
type Snapshots struct {
	bus *stages.Bus

	mu    sync.Mutex
	infos map[string]streamLook
}

type streamLook struct {
	info *jetstream.StreamInfo
	at   time.Time
}

// Snapshot describes a snapshot. Save sets Object, Bytes and Time, the caller the rest.
type Snapshot struct {
	Partition int                          `json:"partition"`
	Object    string                       `json:"object"`    // its name in BucketSnapshots
	Owner     string                       `json:"owner"`     // ID of the store with the state
	Epoch     uint64                       `json:"epoch"`     // of the lease under which it was made
	Format    int                          `json:"format"`    // format of the object, defined by its writer
	Positions map[string]messages.Position `json:"positions"` // by stream: the applied position
	Bytes     int64                        `json:"bytes"`
	Time      time.Time                    `json:"time"`
	// Fence is the epoch of the owner that has continued from it: no earlier owner may replace it.
	Fence uint64 `json:"fence,omitempty"`
}

// Errors of Snapshots.
var (
	// ErrStale is returned when an owner with a higher epoch exists: this process has lost the
	// partition.
	ErrStale = errors.New("another process has taken over the partition")
	// ErrSnapshotsFull is returned when the object exceeds the limit of the bucket. The previous
	// snapshot is kept.
	ErrSnapshotsFull = errors.New("snapshot bucket is full")
	// ErrSnapshotGone is returned for a snapshot that was replaced by a newer one.
	ErrSnapshotGone = errors.New("snapshot was replaced by a newer one")
	// ErrSnapshotDamaged is returned when an object differs from what was saved.
	ErrSnapshotDamaged = errors.New("snapshot is damaged")
)

// NewSnapshots returns the snapshots of the pipeline on b.
func NewSnapshots(b *stages.Bus) *Snapshots {
	return &Snapshots{bus: b, infos: make(map[string]streamLook)}
}

// Save stores the output of write as the newest snapshot of partition p. It records the snapshot by
// compare-and-set when the object is complete. If an owner of a higher epoch has recorded one, or
// has called Fence, it returns ErrStale instead. A crash leaves at most an object without a record,
// which the next Save of the partition removes. Memory is bounded, whatever the size.
func (s *Snapshots) Save(ctx context.Context, p int, meta Snapshot, write func(io.Writer) error) (Snapshot, error) {
	saved, err := s.save(ctx, p, meta, write)
	if err != nil {
		return Snapshot{}, fmt.Errorf("save snapshot of partition %d: %w", p, err)
	}
	return saved, nil
}

func (s *Snapshots) save(ctx context.Context, p int, meta Snapshot, write func(io.Writer) error) (Snapshot, error) {
	have, err := s.recorded(ctx, p)
	if err != nil {
		return meta, err
	}
	if err := have.refuses(meta.Epoch); err != nil {
		return meta, err
	}
	box, err := s.objects(ctx)
	if err != nil {
		return meta, err
	}
	meta.Partition, meta.Object = p, objectName(p, meta.Epoch)
	if have, err = s.sweep(ctx, box, meta, have); err != nil {
		s.bus.Log.Warn("cannot remove the remains of failed snapshots", "partition", p, "error", err)
	}
	if meta.Bytes, err = putObject(ctx, box, meta.Object, write); err != nil {
		return meta, err
	}
	meta.Time = time.Now().UTC()
	before, err := s.record(ctx, meta, have)
	if errors.Is(err, ErrStale) {
		box.Discard(ctx, meta.Object, meta.Object)
	}
	if err != nil {
		return meta, err
	}
	if before.Object != "" {
		box.Discard(ctx, before.Object, before.Object)
	}
	return meta, nil
}

// sweep removes objects without a record that crashes of owners up to meta's epoch have left. If
// there are any, it first rewrites the record have, as only that proves that it is the newest. A
// leader that was cut off may have answered with the previous record, and then the object that the
// partition needs seems to have none. sweep returns the current record. Without a record there is
// no such proof, and leftovers stay until there is one.
func (s *Snapshots) sweep(ctx context.Context, box *jsclient.ObjectBucket, meta Snapshot, have recordedSnapshot) (recordedSnapshot, error) {
	if have.Object == "" {
		return have, nil
	}
	left, err := unrecorded(ctx, box, meta.Partition, meta.Epoch, have.Object)
	if err != nil || len(left) == 0 {
		return have, err
	}
	revision, err := s.update(ctx, have.Snapshot, have.revision)
	if err != nil {
		return have, fmt.Errorf("confirm the newest snapshot: %w", err)
	}
	have.revision = revision
	for _, name := range left {
		if err := box.Remove(ctx, name, name); err != nil {
			return have, err
		}
		s.bus.Log.Info("removed the remains of a failed snapshot", "partition", meta.Partition, "object", name)
	}
	return have, nil
}

// recordedSnapshot is a Snapshot and the revision of its record, 0 if there is none.
type recordedSnapshot struct {
	Snapshot
	revision uint64
}

// refuses returns ErrStale for an epoch before the last.
func (r *recordedSnapshot) refuses(epoch uint64) error {
	if last := max(r.Epoch, r.Fence); last > epoch {
		return fmt.Errorf("%w: epoch %d, this one is of %d", ErrStale, last, epoch)
	}
	return nil
}

// Fence returns the newest snapshot of partition p, if there is one, for an owner that takes over
// the partition. From then on no owner of an earlier epoch can replace it. So the snapshot stays,
// and so do the messages after it in the streams, until this owner or a later one saves another.
// ErrStale means that a later owner exists already.
func (s *Snapshots) Fence(ctx context.Context, p int, epoch uint64) (Snapshot, bool, error) {
	var have recordedSnapshot
	err := jsclient.RetryConflicts(ctx, func() (err error) {
		if have, err = s.recorded(ctx, p); err == nil {
			err = have.refuses(epoch)
		}
		if err != nil || have.Fence == epoch {
			return err
		}
		have.Partition, have.Fence = p, epoch
		_, err = s.update(ctx, have.Snapshot, have.revision)
		return err
	})
	if err != nil {
		return Snapshot{}, false, fmt.Errorf("claim snapshots of partition %d: %w", p, err)
	}
	return have.Snapshot, have.Object != "", nil
}

// record makes snap the newest snapshot of its partition in place of have, and returns the one that
// it really replaced. After an error other than ErrStale it may be recorded or not, so its object
// must stay.
func (s *Snapshots) record(ctx context.Context, snap Snapshot, have recordedSnapshot) (recordedSnapshot, error) {
	for {
		_, err := s.update(ctx, snap, have.revision)
		if err == nil {
			return have, nil
		}
		now, again := s.recorded(ctx, snap.Partition)
		switch {
		case again != nil:
			return have, fmt.Errorf("record snapshot: %w", errors.Join(err, again))
		case now.Object == snap.Object: // only the answer was lost
			return have, nil
		case now.refuses(snap.Epoch) != nil:
			return have, now.refuses(snap.Epoch)
		case !jsclient.IsConflict(err):
			return have, fmt.Errorf("record snapshot: %w", err)
		}
		have = now
		if err := sleep.For(ctx, jsclient.MinRefusedWait); err != nil {
			return have, fmt.Errorf("record snapshot: %w", err)
		}
	}
}

// update stores snap as the record of its partition if that still has the given revision, 0 for
// none, and returns the new revision.
func (s *Snapshots) update(ctx context.Context, snap Snapshot, revision uint64) (uint64, error) {
	ctx, cancel := jsclient.AnswerWithin(ctx)
	defer cancel()
	return s.bus.SwapKey(ctx, messages.BucketMeta, snapshotKey(snap.Partition), messages.Encode(snap), revision)
}

// Newest returns the newest snapshot of partition p, if there is one.
func (s *Snapshots) Newest(ctx context.Context, p int) (Snapshot, bool, error) {
	r, err := s.recorded(ctx, p)
	return r.Snapshot, r.Object != "", err
}

func (s *Snapshots) recorded(ctx context.Context, p int) (r recordedSnapshot, err error) {
	r.revision, err = s.bus.ReadJSON(ctx, messages.BucketMeta, snapshotKey(p), &r.Snapshot)
	return r, err
}

// Open returns a reader of the snapshot's object. It returns io.EOF only after the complete object
// was read and its digest matched; do not trust the data before. The error is ErrSnapshotGone for a
// snapshot that was replaced meanwhile, ErrSnapshotDamaged for one that is incomplete. The reader
// survives a temporary absence of the server.
func (s *Snapshots) Open(ctx context.Context, snap Snapshot) (io.ReadCloser, error) {
	box, err := s.objects(ctx)
	if err != nil {
		return nil, err
	}
	r, err := box.Open(ctx, snap.Object)
	if err != nil {
		return nil, fmt.Errorf("open snapshot of partition %d: %w", snap.Partition, snapshotError(err))
	}
	if r.Left() != snap.Bytes {
		return nil, fmt.Errorf("open snapshot of partition %d: %w: %d bytes, %d were saved", snap.Partition, ErrSnapshotDamaged, r.Left(), snap.Bytes)
	}
	return snapshotReader{r}, nil
}

// Binding says which store has the live state of a partition: an owner with another store must
// start from the snapshot, not from nothing.
type Binding struct {
	Store string `json:"store"` // "" if no store ever had the partition
	Epoch uint64 `json:"epoch"` // of the lease under which it was bound, 0 if unknown

	revision uint64
}

// Binding returns the binding of partition p.
func (s *Snapshots) Binding(ctx context.Context, p int) (b Binding, err error) {
	b.revision, err = s.bus.ReadJSON(ctx, messages.BucketMeta, bindingKey(p), &b)
	return b, err
}

// Rebind binds partition p to a store if its binding still is the previously read one, was. It
// returns the new binding. ErrStale means that the binding has changed, or that was has a higher
// epoch: another owner has the partition. Retrying with the same arguments after another error is
// safe.
func (s *Snapshots) Rebind(ctx context.Context, p int, was Binding, store string, epoch uint64) (Binding, error) {
	if was.Epoch > epoch {
		return was, fmt.Errorf("bind partition %d: %w: epoch %d, this one is of %d", p, ErrStale, was.Epoch, epoch)
	}
	var err error
	next := Binding{Store: store, Epoch: epoch}
	next.revision, err = s.bus.SwapKey(ctx, messages.BucketMeta, bindingKey(p), messages.Encode(next), was.revision)
	if !jsclient.IsConflict(err) {
		if err != nil {
			return was, fmt.Errorf("bind partition %d: %w", p, err)
		}
		return next, nil
	}
	now, err := s.Binding(ctx, p)
	if err != nil {
		return was, err
	}
	if now.Store == store && now.Epoch == epoch { // only the answer was lost
		return now, nil
	}
	return was, fmt.Errorf("bind partition %d: %w: it is bound to %s under epoch %d", p, ErrStale, now.Store, now.Epoch)
}

func snapshotKey(p int) string { return "snapshot." + strconv.Itoa(p) }
func bindingKey(p int) string  { return "frontier." + strconv.Itoa(p) }

// objectName returns a name for a new object. It contains partition and epoch so that leftovers
// differ from what a newer owner is writing.
func objectName(p int, epoch uint64) string {
	return fmt.Sprintf("p%d-e%d-%s", p, epoch, nuid.Next())
}

// SnapshotPressure is the Pressure at which an owner should save a snapshot before it is due.
const SnapshotPressure = 0.5

// Pressure estimates how full the messages that must be kept for one partition make a stream: their
// share of the byte limit, the maximum over the streams in reached. saved are the positions of the
// partition's newest snapshot, reached those of its live state. It returns 0 if the partition has
// read nothing since the snapshot. It queries a stream at most once a second, for all partitions of
// the process.
func (s *Snapshots) Pressure(ctx context.Context, saved, reached map[string]messages.Position) (float64, error) {
	most := 0.0
	for stream, now := range reached {
		before := saved[stream]
		if before == now {
			continue
		}
		info, err := s.cachedInfo(ctx, stream)
		if err != nil {
			return 0, err
		}
		if limit := info.Config.MaxBytes; limit > 0 {
			most = max(most, float64(heldSince(info, before))/float64(limit))
		}
	}
	return most, nil
}

// heldSince estimates how many bytes of a stream were stored after a position, from the mean size
// of its messages. It returns the whole size if the position is in another life of the stream.
func heldSince(info *jetstream.StreamInfo, at messages.Position) int64 {
	st := info.State
	if !at.Created.Equal(info.Created) || at.Sequence > st.LastSeq || at.Sequence < st.FirstSeq {
		return int64(st.Bytes)
	}
	return int64(float64(st.Bytes) * float64(st.LastSeq-at.Sequence) / float64(st.LastSeq-st.FirstSeq+1))
}

// cachedInfo returns stream info that is at most a second old.
func (s *Snapshots) cachedInfo(ctx context.Context, stream string) (*jetstream.StreamInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.infos[stream]; time.Since(l.at) < time.Second {
		return l.info, nil
	}
	st, err := s.bus.JS.Stream(ctx, stream)
	if err != nil {
		return nil, fmt.Errorf("inspect stream %s: %w", stream, err)
	}
	s.infos[stream] = streamLook{st.CachedInfo(), time.Now()}
	return st.CachedInfo(), nil
}
