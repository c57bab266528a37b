package stages

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
)

// Janitor keeps what consumers have read of a stream for replay, inside a
// budget, and purges what is older. It never purges what some durable consumer
// of the stream has not acknowledged, nor what a frontier that takes over a
// partition would still need, so a slow consumer or a late snapshot fills the
// stream, and the full stream holds back who publishes.
type Janitor struct {
	Bus *Bus
	Log *slog.Logger
	// KeepShare is the part of a stream's byte limit that read history may
	// take; the rest is room for what is unread. KeepAge bounds its age.
	KeepShare float64
	KeepAge   time.Duration
	Every     time.Duration
	// BodiesBytes is the limit of BucketBodies.
	BodiesBytes int64
	// Streams and how many durable consumers each must have before anything of
	// it is purged: a consumer that is still to come must find everything.
	Streams map[string]int
	// Snapshots, if not nil, holds back what of URLS and RESULTS is not in the
	// newest snapshot of every partition: whoever takes a partition over reads on
	// from there.
	Snapshots *Snapshots

	newest   []Snapshot // by partition; without Positions where there is none
	newestAt time.Time
}

// Defaults of a Janitor.
const (
	DefaultKeepShare = 0.5
	DefaultKeepAge   = 7 * 24 * time.Hour
	DefaultEvery     = 2 * time.Second
)

// NewJanitor returns a janitor for the streams of the pipeline.
func NewJanitor(b *Bus) *Janitor {
	p := b.Layout.Partitions
	return &Janitor{
		Bus: b, Log: b.Log, KeepShare: DefaultKeepShare, KeepAge: DefaultKeepAge, Every: DefaultEvery,
		BodiesBytes: messages.DefaultStreamLimits().BodiesBytes,
		Streams: map[string]int{
			messages.StreamSeeds: 1, messages.StreamURLs: p, messages.StreamResults: p,
			messages.StreamPages: 1, messages.StreamRecords: p,
		},
	}
}

// Run cleans up until ctx is done. More than one may run: a purge repeated is
// harmless. While there is something to purge it comes back soon, so that a
// small stream does not hold up the pipeline.
func (j *Janitor) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		wait := j.Every
		for name, consumers := range j.Streams {
			purged, err := j.clean(ctx, name, consumers)
			if err != nil && ctx.Err() == nil {
				j.Log.Debug("cannot clean up", "stream", name, "error", err)
			}
			if purged {
				wait = j.Every / 20
			}
		}
		if err := j.sweepBodies(ctx); err != nil && ctx.Err() == nil {
			j.Log.Debug("cannot clean up", "bucket", messages.BucketBodies, "error", err)
		}
		_ = Sleep(ctx, wait)
	}
	return nil
}

// clean purges what of the stream is read and beyond the budget.
func (j *Janitor) clean(ctx context.Context, name string, consumers int) (purged bool, err error) {
	s, err := j.Bus.JS.Stream(ctx, name)
	if err != nil {
		return false, fmt.Errorf("look at stream %s: %w", name, err)
	}
	info := s.CachedInfo()
	over := j.overBudget(info)
	if over == 0 {
		return false, nil
	}
	read, n, err := j.readBy(ctx, s, info.State.LastSeq)
	if err != nil || n < consumers {
		return false, err
	}
	upto := min(read, over)
	if upto < info.State.FirstSeq {
		return false, nil
	}
	if j.Snapshots != nil && (name == messages.StreamURLs || name == messages.StreamResults) {
		if upto, err = j.saved(ctx, info, upto); err != nil || upto < info.State.FirstSeq {
			return false, err
		}
	}
	if err := s.Purge(ctx, jetstream.WithPurgeSequence(upto+1)); err != nil {
		return false, fmt.Errorf("purge stream %s: %w", name, err)
	}
	j.Log.Debug("purged read history", "stream", name, "upto", upto)
	return true, nil
}

// overBudget returns the last sequence that the budget does not cover, 0 when
// it covers all. Where in the stream the byte budget ends is estimated from
// the mean size of its messages; the next round corrects it.
func (j *Janitor) overBudget(info *jetstream.StreamInfo) uint64 {
	st, limit := info.State, info.Config.MaxBytes
	if st.Msgs == 0 {
		return 0
	}
	var over uint64
	if keep := float64(limit) * j.KeepShare; limit > 0 && float64(st.Bytes) > keep {
		share := 1 - keep/float64(st.Bytes)
		over = st.FirstSeq + uint64(share*float64(st.LastSeq-st.FirstSeq+1))
	}
	if age := time.Since(st.FirstTime); over == 0 && age > j.KeepAge {
		// The oldest message is too old: drop a slice, and look again next time.
		over = st.FirstSeq + (st.LastSeq-st.FirstSeq)/64
	}
	return min(over, st.LastSeq)
}

// readBy returns the highest sequence up to which every durable consumer of s
// has read, and how many such consumers there are. last is the stream's last
// sequence, read before: a consumer that has caught up has read up to there.
func (j *Janitor) readBy(ctx context.Context, s jetstream.Stream, last uint64) (uint64, int, error) {
	read, n := last, 0
	list := s.ListConsumers(ctx)
	for c := range list.Info() {
		if c.Config.Durable == "" {
			continue
		}
		n++
		if floor := c.AckFloor.Stream; floor < read && !j.caughtUp(ctx, c) {
			read = floor
		}
	}
	if err := list.Err(); err != nil {
		return 0, 0, fmt.Errorf("list consumers: %w", err)
	}
	return read, n, nil
}

// caughtUp reports whether c has acknowledged the last message for it. Its
// NumPending would say so without a question, but lags behind for moments, and
// a purge cannot be taken back.
func (j *Janitor) caughtUp(ctx context.Context, c *jetstream.ConsumerInfo) bool {
	if c.NumPending > 0 || c.NumAckPending > 0 || c.Config.FilterSubject == "" {
		return false
	}
	m, err := j.Bus.askLeader(ctx, c.Stream, lookup{Last: c.Config.FilterSubject})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return true
	}
	return err == nil && m.Seq <= c.AckFloor.Stream
}

// saved returns the highest sequence, at most upto, up to which the newest
// snapshots have all messages of a stream. A partition holds back its first
// message after its snapshot and all after that, of whichever partition; one
// that is idle has none, however old its snapshot is. Upto must not be beyond
// the last message that the stream had when info was read.
func (j *Janitor) saved(ctx context.Context, info *jetstream.StreamInfo, upto uint64) (uint64, error) {
	if err := j.lookAtSnapshots(ctx); err != nil {
		return 0, err
	}
	stream := info.Config.Name
	for p, snap := range j.newest {
		at := snap.Positions[stream]
		if !at.Created.Equal(info.Created) || at.Sequence > info.State.LastSeq {
			at.Sequence = 0 // of other messages: a new owner reads all of these
		}
		if at.Sequence >= upto {
			continue
		}
		subject := messages.PartitionConsumer("", subjectKinds[stream], p).FilterSubject
		m, err := j.Bus.askLeader(ctx, stream, lookup{Seq: at.Sequence + 1, Next: subject})
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound):
		case err != nil:
			return 0, err
		case m.Seq <= upto:
			upto = m.Seq - 1
		}
	}
	return upto, nil
}

// subjectKinds are the second tokens of the subjects of streams.
var subjectKinds = map[string]string{messages.StreamURLs: "urls", messages.StreamResults: "results"}

// lookAtSnapshots learns which snapshots are the newest, now and then: what it
// does not know yet only makes it keep more.
func (j *Janitor) lookAtSnapshots(ctx context.Context) error {
	if time.Since(j.newestAt) < j.Every {
		return nil
	}
	newest := make([]Snapshot, j.Bus.Layout.Partitions)
	for p := range newest {
		var err error
		if newest[p], _, err = j.Snapshots.Newest(ctx, p); err != nil {
			return err
		}
	}
	j.newest, j.newestAt = newest, time.Now()
	return nil
}

// sweepBodies deletes large bodies that have been read, the oldest first, as
// the same budget says. What has not been read stays, whatever its age.
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
	excess := float64(status.Size()) - float64(j.BodiesBytes)*j.KeepShare
	for _, b := range bodies {
		read, err := time.Parse(time.RFC3339, b.Metadata[messages.BodyReadAt])
		// A page may be delivered once more after its body was marked.
		if err != nil || time.Since(read) < 2*messages.AckWait {
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
