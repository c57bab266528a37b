package frontier

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"seine/internal/base/sleep"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/frontier/state"
	"seine/pkg/stages/partition"
)

// RebuildResult is the state of a partition that was made again, beside the live one.
type RebuildResult struct {
	Partition int `json:"partition"`
	// Snapshot is when the snapshot was made that it began with, zero for none.
	Snapshot time.Time `json:"snapshot,omitzero"`
	Bytes    int64     `json:"snapshot_bytes,omitempty"`
	// Messages were applied of URLS and RESULTS, Requests found in FETCH.
	Messages  int64                           `json:"messages"`
	Requests  int                             `json:"requests"`
	Positions map[string]messages.Position    `json:"positions"`
	Crawls    map[string]frontierapi.Counters `json:"crawls"`
	Hosts     int64                           `json:"hosts"`
}

// Errors of a Rebuilder.
var (
	// ErrLive is returned for a store that has the live state of a partition.
	ErrLive = errors.New("is the live state of the frontier")
	// ErrPurged is returned when a partition has no snapshot, and its streams no longer
	// begin at their beginning: its state is in the store of its owner alone.
	ErrPurged = errors.New("no snapshot, and the streams do not reach back to the beginning")

	errAgain = errors.New("the streams were purged meanwhile")
)

// Rebuilder makes the state of partitions again in a separate store, as an owner
// that takes over would: of the newest snapshot and what the streams hold since. It
// takes no lease, sends no request, and no consumer of the frontiers moves.
type Rebuilder struct{ f *Frontier }

// NewRebuilder returns one. It refuses a store that has the live state of any
// partition.
func NewRebuilder(ctx context.Context, bus *stages.Bus, specs *stages.Specs, store *state.Store) (*Rebuilder, error) {
	cfg := DefaultConfig()
	cfg.Partitions = bus.Layout.Partitions
	f, err := New(cfg, bus, specs, store)
	if err != nil {
		return nil, err
	}
	for p := range bus.Layout.Partitions {
		bound, err := f.snapshots.Binding(ctx, p)
		if err != nil {
			return nil, err
		}
		if bound.Store == store.ID {
			return nil, fmt.Errorf("%s: %w (partition %d): name another directory", store.Dir(), ErrLive, p)
		}
	}
	return &Rebuilder{f: f}, nil
}

// rebuildTries bounds how often a partition is begun anew, because its snapshot was
// replaced and the streams were purged while it was made.
const rebuildTries = 5

// Rebuild makes the state of a partition, as of now.
func (r *Rebuilder) Rebuild(ctx context.Context, p int) (*RebuildResult, error) {
	for try := 1; ; try++ {
		out, err := r.once(ctx, p)
		if err == nil || try == rebuildTries || !errors.Is(err, errAgain) && !errors.Is(err, partition.ErrSnapshotGone) {
			if err != nil {
				err = fmt.Errorf("partition %d: %w", p, err)
			}
			return out, err
		}
	}
}

func (r *Rebuilder) once(ctx context.Context, p int) (*RebuildResult, error) {
	snap, found, err := r.f.snapshots.Newest(ctx, p)
	if err != nil {
		return nil, err
	}
	if found {
		err = r.f.loadSnapshot(ctx, p, snap)
	} else if err = r.whole(ctx); err == nil {
		err = r.f.store.Replace(ctx, p, nil)
	}
	if err != nil {
		return nil, err
	}
	out := &RebuildResult{Partition: p, Snapshot: snap.Time, Bytes: snap.Bytes}
	if err := r.replay(ctx, p, out); err != nil {
		return nil, err
	}
	// Only a newer snapshot lets the janitor purge what this one lacks.
	now, _, err := r.f.snapshots.Newest(ctx, p)
	if err == nil && now.Object != snap.Object {
		err = errAgain
	}
	if err == nil && !found { // nor was anything purged before it was read
		err = r.whole(ctx)
	}
	return out, err
}

// whole returns an error that is ErrPurged if something of what the frontier reads
// was purged.
func (r *Rebuilder) whole(ctx context.Context) error {
	purged, err := r.f.purged(ctx)
	if err != nil || purged == "" {
		return err
	}
	return fmt.Errorf("%w: %s; the state is in its frontier's store alone (with --snapshot-every it would be in snapshots)", ErrPurged, purged)
}

// onlooker is a consumer that the server forgets.
func onlooker(p int) jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		FilterSubject: messages.SubjectAny("*", p),
		AckPolicy:     jetstream.AckNonePolicy, MemoryStorage: true, InactiveThreshold: time.Minute,
	}
}

// replay applies what the streams have beyond the state, and what is in FETCH.
func (r *Rebuilder) replay(ctx context.Context, p int, out *RebuildResult) (err error) {
	f := r.f
	log := f.log.With("partition", p)
	s, err := state.Open(ctx, f.store, state.Options{
		Partition: p, Partitions: f.bus.Layout.Partitions, Clock: f.clock, Specs: rulebook{f, ctx}, MaxHosts: f.cfg.hostsPerPartition(f.bus.Layout.Partitions),
		Replaying: true, Addresses: f.addresses, Log: log,
	})
	if err != nil {
		return err
	}
	part := &partitionLoop{
		state: s, f: f, partition: p, log: log, aside: true, ends: make(map[string]uint64), acks: make(map[string]*partition.ReaderMessage),
		urls:    partition.NewOrderedReader(f.bus, messages.StreamURLs, onlooker(p), s.Positions()[messages.StreamURLs]),
		results: partition.NewOrderedReader(f.bus, messages.StreamResults, onlooker(p), s.Positions()[messages.StreamResults]),
	}
	defer part.close()
	if err := part.readReplayRange(ctx, true); err != nil {
		return err
	}
	out.Requests = len(part.foreign)
	g, gctx := errgroup.WithContext(ctx)
	reading, stop := context.WithCancel(gctx)
	g.Go(func() error { return part.urls.Run(reading) })
	g.Go(func() error { return part.results.Run(reading) })
	g.Go(func() error { return part.watchPurge(reading) })
	g.Go(func() error {
		defer stop()
		return part.replay(reading)
	})
	if err := g.Wait(); err != nil {
		return err
	}
	return part.describeTo(out)
}

// watchPurge returns errAgain when what is still to be read is gone.
func (p *partitionLoop) watchPurge(ctx context.Context) error {
	for sleep.For(ctx, time.Second) == nil {
		for stream, end := range p.ends {
			s, err := p.f.bus.JS.Stream(ctx, stream)
			if err == nil && end > 0 && s.CachedInfo().State.FirstSeq > end {
				return errAgain
			}
		}
	}
	return nil
}

// describeTo says what the state holds.
func (p *partitionLoop) describeTo(out *RebuildResult) (err error) {
	out.Messages, out.Positions = int64(p.replayed), p.copyPositions()
	if out.Crawls, out.Hosts, err = p.state.Totals(); err != nil {
		return err
	}
	// A process that continues with this state has sent none of its in-flight requests.
	return p.f.store.MarkNew(p.partition, "")
}
