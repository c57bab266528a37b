package frontier

import (
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"seine/internal/frontier/state"
	"seine/internal/streams/partition"
	"seine/pkg/messages"
)

// snapshotter makes snapshots of a partition in the background.
type snapshotter struct {
	tasks   sync.WaitGroup
	ctx     context.Context // of its saves
	cut     context.CancelFunc
	last    time.Time     // when the last one began
	took    time.Duration // duration of the last one
	at      map[string]messages.Position
	removed int // crawls that had been removed by then: see state.Removals.Count
	running bool
	saved   chan snapshotResult
	looked  time.Time   // when the pressure was last checked
	urgent  atomic.Bool // over maxPressure of a stream's limit is not covered by a snapshot

	pressing atomic.Bool // the stream will soon be full
}

// snapshotResult is the outcome of a snapshot.
type snapshotResult struct {
	took    time.Duration
	at      map[string]messages.Position
	removed int
	err     error
}

// minIntervalFactor is the least interval between snapshots, as a multiple of the time that the
// last one took: a large state costs at most a twentieth of the time.
const minIntervalFactor = 20

// cooldownFactor is the least time between a snapshot and the next one of any partition, as a
// multiple of its duration. So the snapshots of a large state, which all become urgent together, do
// not block its work for their total duration.
const cooldownFactor = 3

// begin is called when the partition is opened. A partition that was restored makes a snapshot
// soon, since the last one is from its former owner.
func (s *snapshotter) begin(ctx context.Context, p *partitionLoop, restored bool) error {
	s.saved = make(chan snapshotResult, 1)
	s.ctx, s.cut = context.WithCancel(p.f.saves)
	if p.f.cfg.SnapshotEvery == 0 {
		return nil
	}
	snap, found, err := p.f.snapshots.Newest(ctx, p.partition)
	if found {
		s.at = snap.Positions
	}
	if !restored {
		// Partitions opened together would otherwise always be due together.
		spread := time.Duration(p.f.cfg.SnapshotEvery) / time.Duration(p.f.bus.Layout.Partitions)
		s.last = time.Now().Add(-spread * time.Duration(p.partition))
	}
	return err
}

// end cancels saves when the lease of the partition is lost: without a lease the owner has nothing
// to save. The returned function stops that.
func (s *snapshotter) end(ctx context.Context) func() bool {
	return context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), partition.ErrLost) {
			s.cut()
		}
	})
}

// close waits for the tasks, and releases the context of begin.
func (s *snapshotter) close() {
	s.tasks.Wait()
	if s.cut != nil {
		s.cut()
	}
}

// maybeSnapshot makes a snapshot when it is due. It is called between turns, when the store has a
// complete state.
func (s *snapshotter) maybeSnapshot(p *partitionLoop) {
	if p.f.cfg.SnapshotEvery == 0 {
		return
	}
	select {
	case done := <-s.saved:
		s.running = false
		s.note(p, done)
	default:
	}
	s.checkPressure(p)
	age, urgent := time.Since(s.last), s.urgent.Load() || s.first()
	if s.running || s.unchanged(p) || age < s.interval(p) && !urgent || age < minIntervalFactor*s.took && !urgent {
		return
	}
	if p.f.saveFrom.Load() > p.f.now() && !s.pressing.Load() || !p.f.saving.CompareAndSwap(false, true) {
		return
	}
	s.running, s.last = true, time.Now()
	view, at, removed := p.f.store.View(p.partition), maps.Clone(p.state.Positions()), p.state.Removals.Count()
	s.tasks.Go(func() {
		defer view.Close()
		done := p.save(s.ctx, view, at)
		done.removed = removed
		p.f.saveFrom.Store(p.f.now() + int64(cooldownFactor*done.took))
		p.f.saving.Store(false)
		s.saved <- done
	})
}

// afterRemoval is the least time between two snapshots if a deleted crawl was forgotten since the
// last. A deletion waits for the snapshot, as the streams keep its messages until then. Crawls that
// are deleted together need one.
const afterRemoval = 5 * time.Second

// interval returns the least time between two snapshots.
func (s *snapshotter) interval(p *partitionLoop) time.Duration {
	every := time.Duration(p.f.cfg.SnapshotEvery)
	if s.removed != p.state.Removals.Count() {
		return min(every, afterRemoval)
	}
	return every
}

// checkPressure queries at most every pressureEvery how much a stream must keep for lack of a
// snapshot. It marks the snapshot as urgent above maxPressure: the stream could be full before the
// next is due.
func (s *snapshotter) checkPressure(p *partitionLoop) {
	if s.running || time.Since(s.looked) < pressureEvery {
		return
	}
	s.looked = time.Now()
	saved, reached := s.at, maps.Clone(p.state.Positions())
	s.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(s.ctx, pressureEvery)
		defer cancel()
		pressure, err := p.f.snapshots.Pressure(ctx, saved, reached)
		s.urgent.Store(err == nil && pressure > maxPressure)
		s.pressing.Store(err == nil && pressure > (1+maxPressure)/2)
	})
}

// first reports whether the partition has no snapshot and none was attempted. It needs one soon,
// even an empty one: without one, a takeover reads the streams from their beginning.
func (s *snapshotter) first() bool { return s.at == nil && s.took == 0 }

func (s *snapshotter) unchanged(p *partitionLoop) bool {
	return s.at != nil && s.removed == p.state.Removals.Count() && maps.Equal(s.at, p.state.Positions())
}

func (s *snapshotter) note(p *partitionLoop, done snapshotResult) {
	s.took = done.took
	if done.err != nil {
		p.log.Warn("cannot make a snapshot, the last one is kept", "error", done.err)
		return
	}
	s.at, s.removed = done.at, done.removed
	p.state.Removals.SnapshotSaved(done.removed)
	s.urgent.Store(false)
}

// snapshotTime bounds the duration of one snapshot.
const snapshotTime = 30 * time.Minute

// save writes a snapshot to the object store.
func (p *partitionLoop) save(ctx context.Context, v *state.View, at map[string]messages.Position) snapshotResult {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, snapshotTime)
	defer cancel()
	snap, err := p.f.snapshots.Save(ctx, p.partition, partition.Snapshot{
		Owner: p.f.store.ID, Epoch: p.epoch, Format: state.Format, Positions: at, Time: began,
	}, v.Write)
	if err == nil {
		snapshotBytes.Observe(float64(snap.Bytes))
		p.log.Debug("snapshot made", "bytes", snap.Bytes, "took", time.Since(began).Round(time.Millisecond))
	}
	return snapshotResult{took: time.Since(began), at: at, err: err}
}

// finalSnapshot makes a last snapshot for the next owner, which would otherwise have to replay
// everything since the one before.
func (p *partitionLoop) finalSnapshot() {
	p.saver.tasks.Wait()
	if p.f.cfg.SnapshotEvery == 0 {
		return
	}
	v := p.f.store.View(p.partition)
	defer v.Close()
	if done := p.save(p.saver.ctx, v, maps.Clone(p.state.Positions())); done.err != nil {
		p.log.Warn("cannot make a snapshot for the next owner, which will replay the streams", "error", done.err)
	}
}

const (
	maxPressure   = partition.SnapshotPressure
	pressureEvery = 5 * time.Second
)
