package retention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/sleep"
	"seine/internal/streams/jsclient"
	"seine/internal/streams/partition"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Janitor keeps the messages of a stream that consumers have read for replay, within a budget, and
// purges older ones. It never purges messages that a durable consumer of the stream has not
// acknowledged, or that a frontier would need to take over a partition. So a slow consumer or a
// late snapshot fills the stream, and the full stream blocks publishers.
type Janitor struct {
	Bus *stages.Bus
	Log *slog.Logger
	// KeepShare is the part of a stream's byte limit that read history may take; the rest is for
	// unread messages. KeepAge limits the age of read history.
	KeepShare float64
	KeepAge   time.Duration
	Every     time.Duration
	// BodiesBytes is the limit of BucketBodies.
	BodiesBytes int64
	// Streams holds the number of durable consumers that each stream must have before it is purged:
	// a future consumer must find all messages. On URLS and RESULTS only those of the frontier
	// count. The server drops them when it restarts, and others may have consumers there.
	Streams map[string]int
	// Snapshots, if not nil, keeps messages of URLS and RESULTS that are not in the newest snapshot
	// of every partition: a takeover continues from there.
	Snapshots *partition.Snapshots

	last     uint64                // sum of the streams' last sequences
	newest   []*partition.Snapshot // by partition; nil if there is none
	newestAt time.Time
	blamed   map[string]bool  // streams whose slowest consumers were logged
	looseAge time.Duration    // looseAge, except in tests
	now      func() time.Time // time.Now, except in tests
	loose    map[string]orphanBody
}

// Defaults of a Janitor.
const (
	DefaultKeepShare = 0.5
	DefaultKeepAge   = 7 * 24 * time.Hour
	DefaultEvery     = 2 * time.Second
	trickle          = 64 // messages between two checks that fill no stream
)

// NewJanitor returns a janitor for the streams of the pipeline.
func NewJanitor(b *stages.Bus) *Janitor {
	p := b.Layout.Partitions
	return &Janitor{
		Bus: b, Log: b.Log, KeepShare: DefaultKeepShare, KeepAge: DefaultKeepAge, Every: DefaultEvery,
		BodiesBytes: messages.DefaultStreamLimits().BodiesBytes, looseAge: looseAge, now: time.Now,
		Streams: map[string]int{
			messages.StreamSeeds: 1, messages.StreamURLs: p, messages.StreamResults: p,
			messages.StreamPages: 1, messages.StreamRecords: p,
		},
	}
}

// Run cleans up until ctx is done. Several may run: a repeated purge is harmless. It runs more
// often while there is something to purge, so that a small stream does not block the pipeline, and
// less often while little is published.
func (j *Janitor) Run(ctx context.Context) error {
	var swept, moved time.Time
	for wait := j.Every; ctx.Err() == nil; _ = sleep.For(ctx, wait) {
		last, purgedAny := j.last, false
		j.last = 0
		for name, consumers := range j.Streams {
			purged, err := j.clean(ctx, name, consumers)
			if err != nil && ctx.Err() == nil {
				j.Log.Debug("cannot clean up", "stream", name, "error", err)
			}
			purgedAny = purgedAny || purged
		}
		switch {
		case purgedAny:
			wait = j.Every / 20
		case j.last-last < trickle: // not for a sum that has shrunk: the difference wraps
			wait = min(max(2*wait, j.Every), 4*j.Every)
		default:
			wait = j.Every
		}
		if time.Since(swept) >= j.Every { // listing bodies costs more than checking a stream
			swept = time.Now()
			if err := j.sweepBodies(ctx); err != nil && ctx.Err() == nil {
				j.Log.Debug("cannot clean up", "bucket", messages.BucketBodies, "error", err)
			}
		}
		if time.Since(moved) >= straysEvery {
			moved = time.Now()
			for _, name := range StrayStreams {
				if err := j.moveStrays(ctx, name); err != nil && ctx.Err() == nil {
					j.Log.Debug("cannot move unread messages to DEAD", "stream", name, "error", err)
				}
			}
		}
	}
	return nil
}

// clean purges messages of the stream that are read and beyond the budget.
func (j *Janitor) clean(ctx context.Context, name string, consumers int) (purged bool, err error) {
	s, err := j.Bus.JS.Stream(ctx, name)
	if err != nil {
		return false, fmt.Errorf("inspect stream %s: %w", name, err)
	}
	info := s.CachedInfo()
	j.last += info.State.LastSeq
	over := j.overBudget(info)
	if over == 0 {
		return false, nil
	}
	read, slowest, n, err := j.minAckFloor(ctx, name, info.State.LastSeq)
	if err != nil {
		return false, err
	}
	j.blame(info, read, slowest)
	if n < consumers {
		return false, nil
	}
	upto, err := j.saved(ctx, info, min(read, over))
	if err != nil || upto < info.State.FirstSeq {
		return false, err
	}
	if slices.Contains(StrayStreams, name) {
		if err := j.moveStrays(ctx, name); err != nil {
			return false, err
		}
	}
	if err := s.Purge(ctx, jetstream.WithPurgeSequence(upto+1)); err != nil {
		return false, fmt.Errorf("purge stream %s: %w", name, err)
	}
	j.Log.Debug("purged read history", "stream", name, "upto", upto)
	return true, nil
}

// purgedShare is the part of the budget that one purge removes. Each purge makes the server read a
// block of up to 8 MiB, and keep it in memory for 10 s (nats-server 2.15.2).
const purgedShare = 1.0 / 8

// overBudget returns the last sequence to purge of a stream over its budget, 0 if it is not. It is
// an estimate from the mean message size, which the next round corrects.
func (j *Janitor) overBudget(info *jetstream.StreamInfo) uint64 {
	st, limit := info.State, info.Config.MaxBytes
	if st.Msgs == 0 {
		return 0
	}
	var over uint64
	if keep := float64(limit) * j.KeepShare; limit > 0 && float64(st.Bytes) > keep {
		share := 1 - keep*(1-purgedShare)/float64(st.Bytes)
		over = st.FirstSeq + uint64(share*float64(st.LastSeq-st.FirstSeq+1))
	}
	if age := time.Since(st.FirstTime); over == 0 && age > j.KeepAge {
		// The oldest message is too old: drop a slice, and check again next time.
		over = st.FirstSeq + (st.LastSeq-st.FirstSeq)/64
	}
	return min(over, st.LastSeq)
}

// blameShare is the part of a stream's limit that a consumer may hold before the janitor logs the
// consumer.
const blameShare = 0.75

// blame logs once that a consumer fills the stream. The consumer may belong to a removed writer,
// which logs nothing itself.
func (j *Janitor) blame(info *jetstream.StreamInfo, read uint64, slowest string) {
	st, name := info.State, info.Config.Name
	unread := float64(st.LastSeq-min(max(read, st.FirstSeq-1), st.LastSeq)) / float64(st.LastSeq-st.FirstSeq+1)
	held := info.Config.MaxBytes > 0 && unread*float64(st.Bytes) > blameShare*float64(info.Config.MaxBytes)
	switch {
	case held && !j.blamed[name]:
		j.Log.Warn("stream fills up with messages that a consumer has not read", "stream", name, "consumer", slowest)
		if j.blamed == nil {
			j.blamed = make(map[string]bool)
		}
		j.blamed[name] = true
	case !held:
		delete(j.blamed, name)
	}
}

// frontierReaders are the names, without a partition, of the consumers that a stream must have.
var frontierReaders = map[string]string{messages.StreamURLs: messages.ConsumerURLs, messages.StreamResults: messages.ConsumerResults}

// minAckFloor returns the highest sequence up to which every durable consumer of a stream has read,
// the slowest consumer, and how many of the required consumers exist. last is the stream's last
// sequence, read before: a consumer that has caught up has read up to there.
func (j *Janitor) minAckFloor(ctx context.Context, stream string, last uint64) (read uint64, slowest string, n int, err error) {
	all, err := j.Bus.Consumers(ctx, stream)
	if err != nil {
		return 0, "", 0, err
	}
	if copied, err := j.backedUp(ctx); err != nil || copied {
		return 0, "a backup", len(all), err
	}
	read = last
	for _, c := range all {
		if c.Config.Durable == "" {
			continue
		}
		if must := frontierReaders[stream]; must == "" || messages.ReaderOf(c.Config.Durable) == must {
			n++
		}
		if floor := c.AckFloor.Stream; floor < read && !j.caughtUp(ctx, c) {
			read, slowest = floor, c.Config.Durable
		}
	}
	return read, slowest, n, nil
}

// backedUp reports whether a backup is in progress, which needs all messages that existed when it
// began.
func (j *Janitor) backedUp(ctx context.Context) (bool, error) {
	for m, err := range j.Bus.EachFromLeader(ctx, "KV_"+messages.BucketLeases, "$KV."+messages.BucketLeases+"."+messages.KeyBackups+"*", 1) {
		if err != nil || !m.Deletes() {
			return err == nil, err
		}
	}
	return false, nil
}

// caughtUp reports whether c has acknowledged the last message for it. Its NumPending would say so
// without a query, but lags behind for moments, and a purge cannot be undone.
func (j *Janitor) caughtUp(ctx context.Context, c *jetstream.ConsumerInfo) bool {
	if c.NumPending > 0 || c.NumAckPending > 0 || c.Config.FilterSubject == "" {
		return false
	}
	last, err := j.Bus.LastSequence(ctx, c.Stream, c.Config.FilterSubject)
	return err == nil && last <= c.AckFloor.Stream
}

// saved returns the highest sequence, at most upto, up to which the newest snapshots contain all
// messages of a stream, if they must. A partition's first message after its snapshot, and all
// messages after that of any partition, must stay. An idle partition has no such message, however
// old its snapshot is. If a partition has no snapshot, the answer is 0: a takeover reads the
// streams from their beginning, and only a complete stream proves that nothing is missing. upto
// must not be beyond the last message that the stream had when info was read.
func (j *Janitor) saved(ctx context.Context, info *jetstream.StreamInfo, upto uint64) (uint64, error) {
	stream := info.Config.Name
	if j.Snapshots == nil || stream != messages.StreamURLs && stream != messages.StreamResults || upto < info.State.FirstSeq {
		return upto, nil
	}
	if err := j.lookAtSnapshots(ctx); err != nil {
		return 0, err
	}
	if slices.Contains(j.newest, nil) {
		return 0, nil
	}
	for p, snap := range j.newest {
		at := snap.Positions[stream]
		if !at.Created.Equal(info.Created) || at.Sequence > info.State.LastSeq {
			at.Sequence = 0 // sequence of other messages: a new owner reads all of these
		}
		if at.Sequence >= upto {
			continue
		}
		m, err := j.Bus.ReadFromLeader(ctx, stream, jsclient.Lookup{Seq: at.Sequence + 1, Next: messages.SubjectAny("*", p)})
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

// lookAtSnapshots refreshes the newest snapshots, at most every j.Every. Outdated information only
// makes the janitor keep more.
func (j *Janitor) lookAtSnapshots(ctx context.Context) error {
	if time.Since(j.newestAt) < j.Every {
		return nil
	}
	newest := make([]*partition.Snapshot, j.Bus.Layout.Partitions)
	for p := range newest {
		snap, found, err := j.Snapshots.Newest(ctx, p)
		if err != nil {
			return err
		}
		if found {
			newest[p] = &snap
		}
	}
	j.newest, j.newestAt = newest, time.Now()
	return nil
}
