package frontier

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/frontier/state"
	"seine/internal/streams/partition"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// purgeSaved purges the messages covered by the newest snapshot of the partition, as a janitor may.
func (t *takeoverFixture) purgeSaved() {
	t.t.Helper()
	snap, found, err := partition.NewSnapshots(t.bus).Newest(t.t.Context(), 0)
	t.must(err)
	if !found {
		t.t.Fatal("there is no snapshot")
	}
	for _, name := range []string{messages.StreamURLs, messages.StreamResults} {
		s, err := t.bus.JS.Stream(t.t.Context(), name)
		t.must(err)
		t.must(s.Purge(t.t.Context(), jetstream.WithPurgeSequence(snap.Positions[name].Sequence+1)))
	}
}

// After the next owner has restored the newest snapshot, a former owner that does not know of its
// loss must not save another: later messages might then be purged.
func TestOwnerWithoutALeaseReplacesNoSnapshotUnderItsSuccessor(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	first, second, whole := a.store(), a.store(), a.store()
	owner := a.own(first, 1, time.Hour)
	a.seedHosts(12)
	a.live(20, "page")
	a.settled(first)
	owner.handOver()
	owner = a.own(first, 2, time.Hour)
	a.live(20, "more")
	a.settled(first)
	a.must(owner.die())
	f := a.frontier(first, time.Hour)
	frozen, err := f.open(t.Context(), 0, 2, false)
	a.must(err)
	defer frozen.close()
	if restored, err := (takeover{a.frontier(second, time.Hour)}).run(t.Context(), 0, 3); err != nil || !restored {
		t.Fatalf("restored %v, %v", restored, err)
	}
	frozen.finalSnapshot()
	a.purgeSaved()
	a.copyState(first, whole)
	a.own(second, 4, time.Hour)
	a.settled(second)
	a.wantSame(second, whole)
}

// copyState copies the state of the partition from one store to another.
func (t *takeoverFixture) copyState(from, to *state.Store) {
	t.t.Helper()
	t.must(to.Replace(t.t.Context(), 0, bytes.NewReader(t.stateOf(from))))
}

func (t *takeoverFixture) stateOf(s *state.Store) []byte {
	t.t.Helper()
	v := s.View(0)
	defer v.Close()
	var b bytes.Buffer
	t.must(v.Write(&b))
	return b.Bytes()
}

func TestStateWhoseSnapshotWasReplacedIsMadeAgain(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	first, second := a.store(), a.store()
	owner := a.own(first, 1, time.Hour)
	a.seedHosts(12)
	a.live(20, "page")
	a.settled(first)
	owner.handOver()
	if restored, err := (takeover{a.frontier(second, time.Hour)}).run(t.Context(), 0, 2); err != nil || !restored {
		t.Fatalf("restored %v, %v", restored, err)
	}
	// Another store owns the partition meanwhile, and messages that the second lacks are purged.
	owner = a.own(first, 3, time.Hour)
	a.live(20, "more")
	a.settled(first)
	owner.handOver()
	a.purgeSaved()
	bound, err := partition.NewSnapshots(a.bus).Binding(t.Context(), 0)
	a.must(err)
	_, err = partition.NewSnapshots(a.bus).Rebind(t.Context(), 0, bound, second.ID, 4) // although its state lacks the purged messages
	a.must(err)
	a.own(second, 5, time.Hour)
	a.settled(second)
	a.wantSame(second, first)
}

func TestStoreThatLostItsLastCommitsGoesOnFromItsSnapshot(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	store, whole := a.store(), a.store()
	owner := a.own(store, 1, time.Hour)
	a.seedHosts(12)
	a.live(20, "page")
	a.settled(store)
	old := a.stateOf(store)
	a.live(20, "more")
	a.settled(store)
	owner.handOver()
	a.copyState(store, whole)
	a.must(store.Replace(t.Context(), 0, bytes.NewReader(old))) // as after a power failure
	a.purgeSaved()
	a.own(store, 2, time.Hour)
	a.settled(store)
	a.wantSame(store, whole)
}

// saveForEver makes an owner save a snapshot that does not end by itself.
func (t *takeoverFixture) saveForEver(f *Frontier) {
	t.t.Helper()
	var p *partitionLoop
	t.eventually("the partition is owned", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		p = f.owned[0]
		return p != nil
	})
	p.saver.tasks.Go(func() { <-p.saver.ctx.Done() })
}

func TestStopWaitsForNoSnapshotBeyondDrain(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	f := a.frontier(a.store(), time.Hour)
	f.cfg.Drain = crawlspec.Duration(time.Millisecond)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	a.saveForEver(f)
	stop()
	select {
	case err := <-ended:
		a.must(err)
	case <-time.After(maxWait):
		t.Error("it waits for a snapshot")
	}
}

func TestOwnerThatLostItsLeaseSavesNothingMore(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	f := a.frontier(a.store(), time.Hour)
	ctx, end := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.runPartition(ctx, 0, 1) }()
	a.saveForEver(f)
	end(partition.ErrLost)
	select {
	case err := <-ended:
		a.must(err)
	case <-time.After(maxWait):
		t.Error("it waits for a snapshot")
	}
}
