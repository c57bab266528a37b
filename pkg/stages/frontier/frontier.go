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

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Frontier is one process of the stage.
type Frontier struct {
	cfg     Config
	bus     *stages.Bus
	specs   *stages.Specs
	store   *Store
	pub     *stages.Publisher
	log     *slog.Logger
	budgets budgets
	leases  *stages.Leases

	outstanding atomic.Int64 // requests under way, over all partitions

	mu       sync.Mutex
	compiled map[string]*rules
}

// ErrForeignState is returned when the state of a partition is in another
// store than this one.
var ErrForeignState = errors.New("the state of this partition is in another frontier's store")

// Provision makes the streams ready for the stages, as the configuration says.
func Provision(ctx context.Context, cfg Config, bus *stages.Bus) error {
	return bus.Provision(ctx, cfg.Partitions, cfg.limits(), cfg.Replicas)
}

// New returns a frontier on a store. It starts nothing.
func New(cfg Config, bus *stages.Bus, specs *stages.Specs, store *Store) (*Frontier, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	f := &Frontier{
		cfg: cfg, bus: bus, specs: specs, store: store, log: bus.Log,
		pub: stages.NewPublisher(bus, messages.StageFrontier), compiled: make(map[string]*rules),
	}
	f.leases = &stages.Leases{
		Bus: bus, Group: messages.StageFrontier, Owner: store.ID, Partitions: bus.Layout.Partitions,
		Log: bus.Log, Own: f.own,
	}
	return f, nil
}

// Run works until ctx is done, then finishes the turn of every partition.
func (f *Frontier) Run(ctx context.Context) error {
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return f.leases.Run(gctx) })
	g.Go(func() error { return f.intake().Run(gctx) })
	g.Go(func() error {
		j := stages.NewJanitor(f.bus)
		j.KeepShare, j.KeepAge = f.cfg.KeepShare, time.Duration(f.cfg.KeepAge)
		j.BodiesBytes = int64(f.cfg.BodiesBytes)
		return j.Run(gctx)
	})
	if err := g.Wait(); err != nil {
		return fmt.Errorf("frontier: %w", err)
	}
	return nil
}

// Ready reports whether this process owns any partition.
func (f *Frontier) Ready() error {
	if len(f.leases.Owned()) == 0 {
		return errors.New("owns no partition yet")
	}
	return nil
}

// rules returns the compiled spec of a crawl, at least of revision rev.
func (f *Frontier) rules(ctx context.Context, crawl string, rev uint64) (*rules, error) {
	spec, err := f.specs.Get(ctx, crawl, rev)
	if err != nil {
		return nil, err
	}
	return f.compile(crawl, spec)
}

func (f *Frontier) compile(crawl string, spec stages.Revised) (*rules, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.compiled[crawl]; r != nil && r.Spec == spec.Spec {
		return r, nil
	}
	r, err := compile(spec)
	if err != nil {
		return nil, fmt.Errorf("spec of crawl %s: %w", crawl, err)
	}
	f.compiled[crawl] = r
	return r, nil
}

// room is how many more requests FETCH may take from this process.
func (f *Frontier) room() int {
	return int(f.cfg.FetchMessages - f.outstanding.Load())
}

// bind ties the partition to this store: another frontier, with another store,
// would start with nothing where this one left off.
func (f *Frontier) bind(ctx context.Context, p int) error {
	kv, err := f.bus.JS.KeyValue(ctx, messages.BucketMeta)
	if err != nil {
		return fmt.Errorf("open bucket %s: %w", messages.BucketMeta, err)
	}
	key := fmt.Sprintf("frontier.%d", p)
	if _, err := kv.Create(ctx, key, []byte(f.store.ID)); err == nil {
		return nil
	} else if !errors.Is(err, jetstream.ErrKeyExists) {
		return fmt.Errorf("bind store: %w", err)
	}
	e, err := kv.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("bind store: %w", err)
	}
	if have := string(e.Value()); have != f.store.ID {
		return fmt.Errorf("%w: %s, not %s (start it with the --state it had, or on a new NATS account)", ErrForeignState, have, f.store.ID)
	}
	return nil
}
