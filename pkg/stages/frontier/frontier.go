package frontier

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"seine/internal/base/bootclock"
	"seine/internal/base/installation"
	"seine/internal/base/recent"
	"seine/internal/base/sleep"
	"seine/internal/frontier/state"
	"seine/internal/streams/jsclient"
	"seine/internal/streams/partition"
	"seine/internal/streams/retention"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Frontier is one process of the stage.
type Frontier struct {
	clock     *state.Clock
	eras      atomic.Pointer[messages.Eras] // of the cluster
	emptied   atomic.Bool                   // the server has lost its layout
	cfg       Config
	bus       *stages.Bus
	specs     *stages.Specs
	store     *state.Store
	pub       *stages.Publisher
	log       *slog.Logger
	leases    *partition.Leases
	snapshots *partition.Snapshots
	budgets   *budgets
	addresses *state.IPLimiter

	lostPageAfter time.Duration // the constant lostPageAfter, except in tests

	saves    context.Context // context of all snapshot saves
	cutSaves context.CancelFunc

	requests fetchRoom    // in FETCH, of all partitions
	renders  fetchRoom    // requests whose pages may need a browser
	saving   atomic.Bool  // a partition is saving a snapshot; only one may, to limit memory
	saveFrom atomic.Int64 // when the next snapshot may start, Unix ns

	compiled recent.Cache[string, *state.Rules]
	sets     recent.Cache[*crawlspec.Spec, *state.RuleSet]

	mu    sync.Mutex
	owned map[int]*partitionLoop
}

// Provision creates and configures the streams as cfg says.
func Provision(ctx context.Context, cfg Config, bus *stages.Bus) error {
	ctx, cancel := bus.Refusals.CancelOnDenied(ctx)
	defer cancel()
	err := jsclient.RetryUnavailable(ctx, func(ctx context.Context) error { return cfg.checkServer(ctx, bus) })
	if err == nil {
		err = bus.Provision(ctx, cfg.Partitions, cfg.limits(), cfg.Replicas)
	}
	return bus.Refusals.WithErr(err)
}

// checkServer returns installation.ErrOther, before anything is created, if the server is not the
// one that the --state belongs to.
func (c *Config) checkServer(ctx context.Context, bus *stages.Bus) error {
	have, err := installation.Of(c.State)
	if err != nil || have.Name == "" {
		return err
	}
	server := installation.ID{Partitions: c.Partitions}
	switch l, err := bus.Existing(ctx); {
	case err == nil:
		server.Name, server.Partitions = l.Installation, l.Partitions
	case !isMissing(err):
		return err
	}
	return installation.Check(c.State, server, c.Adopt)
}

// isMissing reports whether an error means that the server has no layout: the streams were never
// created, or are lost.
func isMissing(err error) bool {
	return errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrStreamNotFound)
}

// New returns a frontier on a store. It starts nothing.
func New(cfg Config, bus *stages.Bus, specs *stages.Specs, store *state.Store) (*Frontier, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	only, err := cfg.Take.Partitions(bus.Layout.Partitions)
	if err != nil {
		return nil, fmt.Errorf("--partitions-owned: %w", err)
	}
	if err := installation.Bind(store.Dir(), bus.Installation(), cfg.Adopt); err != nil {
		return nil, err
	}
	f := &Frontier{
		clock: state.NewClock(time.Now().UnixNano(), bootclock.Now, bootclock.Clock()), cfg: cfg, bus: bus, lostPageAfter: lostPageAfter, specs: specs, store: store, log: bus.Log,
		pub:   stages.NewPublisher(bus, messages.StageFrontier),
		owned: make(map[int]*partitionLoop), snapshots: partition.NewSnapshots(bus),
	}
	f.eras.Store(&messages.Eras{})
	f.saves, f.cutSaves = context.WithCancel(context.Background())
	f.requests.limit, f.renders.limit = cfg.FetchMessages, max(1, cfg.FetchMessages/2)
	f.addresses = state.NewIPLimiter(f.now)
	f.budgets = &budgets{bus: bus, now: f.now}
	f.leases = &partition.Leases{
		Bus: bus, Group: messages.StageFrontier, Owner: store.ID, Partitions: bus.Layout.Partitions,
		Fair: cfg.Take == TakeFair, Pinned: only, Log: bus.Log,
		RunPartition: func(ctx context.Context, p int, epoch uint64) error {
			return f.store.Explained(f.runPartition(ctx, p, epoch), f.log)
		},
	}
	return f, nil
}

// now returns the time of day in Unix ns.
func (f *Frontier) now() int64 { return f.clock.Now() }

// Run works until ctx is done, then finishes the turn of every partition. It waits at most Drain
// for a snapshot that is being saved.
func (f *Frontier) Run(ctx context.Context) error {
	defer f.cutSaves()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(time.Duration(f.cfg.Drain), f.cutSaves) })()
	g, gctx := errgroup.WithContext(ctx)
	if err := jsclient.RetryUnavailable(ctx, f.startEra); err != nil && ctx.Err() == nil {
		return fmt.Errorf("frontier: %w", err)
	}
	g.Go(func() error { return f.followEra(gctx) })
	g.Go(func() error { return f.leases.Run(gctx) })
	g.Go(func() error { return seedIntake{f}.worker().Run(gctx) })
	g.Go(func() error { return f.serve(gctx) })
	g.Go(func() error { return f.janitor().Run(gctx) })
	g.Go(func() error { return deletions{f}.run(gctx) })
	g.Go(func() error { return expirer{f}.run(gctx) })
	g.Go(func() error { stages.KeepProvisioned(gctx, f.bus); return nil })
	if err := g.Wait(); err != nil {
		return fmt.Errorf("frontier: %w", err)
	}
	return nil
}

// startEra begins an era if the store was not closed: after a power failure it may have lost visits
// that are in the output. Then it reads the era of the cluster.
func (f *Frontier) startEra(ctx context.Context) error {
	if f.store.Killed {
		if err := f.bus.Eras.Begin(ctx); err != nil {
			return err
		}
		f.store.Killed = false
	}
	return f.readEra(ctx)
}

// readEra reads the eras of the cluster.
func (f *Frontier) readEra(ctx context.Context) error {
	eras, err := f.bus.Eras.All(ctx)
	if err == nil {
		f.eras.Store(&eras)
	}
	return err
}

// era returns the era of visits that begin now.
func (f *Frontier) era() uint64 { return f.eras.Load().Last() }

// eraEvery is the least interval between reads of the era, which is otherwise a tenth of
// CheckEvery.
const eraEvery = time.Second

// followEra reads the era until ctx is done. While NATS is unavailable the era does not change. It
// returns installation.ErrOther once the server has the streams of another installation.
func (f *Frontier) followEra(ctx context.Context) error {
	for sleep.For(ctx, max(eraEvery, f.bus.CheckEvery/10)) == nil {
		err := f.readEra(ctx)
		if err == nil {
			err = f.bus.CheckInstallation(ctx)
		}
		switch was := f.emptied.Swap(isMissing(err)); {
		case errors.Is(err, installation.ErrOther):
			return err
		case !was && isMissing(err):
			f.log.Error("this process is blocked", "error", f.Ready())
		case err != nil:
			f.log.Debug("cannot read the era", "error", err)
		}
	}
	return nil
}

// janitor returns a janitor with the configured retention.
func (f *Frontier) janitor() *retention.Janitor {
	j := retention.NewJanitor(f.bus)
	j.KeepShare, j.KeepAge = f.cfg.KeepShare, time.Duration(f.cfg.KeepAge)
	j.BodiesBytes = int64(f.cfg.BodiesBytes)
	if f.cfg.SnapshotEvery > 0 {
		j.Snapshots = f.snapshots
	}
	return j
}

// Ready returns an error unless this process owns a partition, and while the server has lost its
// streams.
func (f *Frontier) Ready() error {
	if f.emptied.Load() {
		return fmt.Errorf("the server has lost the streams of installation %s: restore a backup (seine restore), or start the frontier again with --adopt", f.bus.Layout.Installation)
	}
	if len(f.leases.Owned()) == 0 {
		return errors.New("owns no partition yet")
	}
	return nil
}

// attach registers a partition for queries.
func (f *Frontier) attach(p *partitionLoop) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.owned[p.partition] = p
}

func (f *Frontier) detach(p *partitionLoop) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.owned[p.partition] == p {
		delete(f.owned, p.partition)
	}
}
