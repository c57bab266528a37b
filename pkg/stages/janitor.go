package stages

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
)

// Janitor keeps what consumers have read of a stream for replay, inside a
// budget, and purges what is older. It never purges what some durable consumer
// of the stream has not acknowledged, so a slow consumer fills the stream, and
// the full stream holds back who publishes.
type Janitor struct {
	Bus *Bus
	Log *slog.Logger
	// KeepShare is the part of a stream's byte limit that read history may
	// take; the rest is room for what is unread. KeepAge bounds its age.
	KeepShare float64
	KeepAge   time.Duration
	Every     time.Duration
	// Streams and how many durable consumers each must have before anything of
	// it is purged: a consumer that is still to come must find everything.
	Streams map[string]int
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
		Streams: map[string]int{
			messages.StreamSeeds: 1, messages.StreamURLs: p, messages.StreamResults: p,
			messages.StreamPages: 1, messages.StreamRecords: p,
		},
	}
}

// Run cleans up until ctx is done. More than one may run: a purge repeated is
// harmless.
func (j *Janitor) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		for name, consumers := range j.Streams {
			if err := j.clean(ctx, name, consumers); err != nil && ctx.Err() == nil {
				j.Log.Debug("cannot clean up", "stream", name, "error", err)
			}
		}
		_ = sleep(ctx, j.Every)
	}
	return nil
}

// clean purges what of the stream is read and beyond the budget.
func (j *Janitor) clean(ctx context.Context, name string, consumers int) error {
	s, err := j.Bus.JS.Stream(ctx, name)
	if err != nil {
		return fmt.Errorf("look at stream %s: %w", name, err)
	}
	info := s.CachedInfo()
	over := j.overBudget(info)
	if over == 0 {
		return nil
	}
	read, n, err := j.readBy(ctx, s, info.State.LastSeq)
	if err != nil || n < consumers {
		return err
	}
	upto := min(read, over)
	if upto < info.State.FirstSeq {
		return nil
	}
	if err := s.Purge(ctx, jetstream.WithPurgeSequence(upto+1)); err != nil {
		return fmt.Errorf("purge stream %s: %w", name, err)
	}
	j.Log.Debug("purged read history", "stream", name, "upto", upto)
	if name == messages.StreamPages {
		return j.sweepBodies(ctx, s)
	}
	return nil
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
		if floor := c.AckFloor.Stream; floor < read && !j.caughtUp(ctx, s, c) {
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
func (j *Janitor) caughtUp(ctx context.Context, s jetstream.Stream, c *jetstream.ConsumerInfo) bool {
	if c.NumPending > 0 || c.NumAckPending > 0 || c.Config.FilterSubject == "" {
		return false
	}
	m, err := s.GetLastMsgForSubject(ctx, c.Config.FilterSubject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return true
	}
	return err == nil && m.Sequence <= c.AckFloor.Stream
}

// sweepBodies deletes the large bodies that are older than the oldest page.
func (j *Janitor) sweepBodies(ctx context.Context, pages jetstream.Stream) error {
	info, err := pages.Info(ctx)
	if err != nil {
		return fmt.Errorf("look at stream %s: %w", messages.StreamPages, err)
	}
	oldest := info.State.FirstTime
	if info.State.Msgs == 0 || oldest.IsZero() {
		return nil
	}
	store, err := j.Bus.JS.ObjectStore(ctx, messages.BucketBodies)
	if err != nil {
		return fmt.Errorf("open object store %s: %w", messages.BucketBodies, err)
	}
	bodies, err := store.List(ctx)
	if err != nil {
		return nil // an empty store lists as an error
	}
	for _, b := range bodies {
		// A body is stored before its page; the hour covers a slow publish.
		if b.ModTime.Before(oldest.Add(-time.Hour)) {
			if err := store.Delete(ctx, b.Name); err != nil {
				return fmt.Errorf("delete body %s: %w", b.Name, err)
			}
		}
	}
	return nil
}
