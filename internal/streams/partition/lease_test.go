package partition

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/internal/testing/slow"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// leaseTTL is long enough that a busy machine does not lose a lease by being slow, for 7/10 of it,
// and short enough to wait for.
const leaseTTL = 8 * time.Second

// aWhile is how long a test checks that nothing happens: a forbidden event would happen immediately
// after another one.
const aWhile = time.Second

// openLeases starts a broker with only the bucket of leases.
func openLeases(t *testing.T) (*natstest.Broker, *stages.Bus) {
	t.Helper()
	return openLeasesFor(t, leaseTTL)
}

func openLeasesFor(t *testing.T, ttl time.Duration) (*natstest.Broker, *stages.Bus) {
	t.Helper()
	br := natstest.NewBroker(t)
	b, _ := stagestest.Dial(t, br.URL())
	_, err := b.JS.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: messages.BucketLeases, TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	return br, b
}

// register tracks who works on each partition, and fails the test if two do.
type register struct {
	t       *testing.T
	mu      sync.Mutex
	holders map[int]string
	epochs  map[int][]uint64
	causes  map[int][]error
	dead    map[string]bool // killed owners; their further actions here are not real
}

func (r *register) enter(p int, who string, epoch uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holders == nil {
		r.holders, r.epochs, r.causes = make(map[int]string), make(map[int][]uint64), make(map[int][]error)
	}
	if r.dead[who] {
		return
	}
	if other, taken := r.holders[p]; taken {
		r.t.Errorf("%s owns partition %d while %s does", who, p, other)
	}
	if es := r.epochs[p]; len(es) > 0 && es[len(es)-1] >= epoch {
		r.t.Errorf("epoch %d of partition %d after %d", epoch, p, es[len(es)-1])
	}
	r.holders[p] = who
	r.epochs[p] = append(r.epochs[p], epoch)
}

func (r *register) leave(p int, who string, cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dead[who] {
		return
	}
	delete(r.holders, p)
	r.causes[p] = append(r.causes[p], cause)
}

// kill makes an owner vanish.
func (r *register) kill(who string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dead == nil {
		r.dead = make(map[string]bool)
	}
	r.dead[who] = true
	maps.DeleteFunc(r.holders, func(_ int, h string) bool { return h == who })
}

// owned returns how many partitions have an owner, and how often one has got an owner.
func (r *register) owned() (n, moves int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, es := range r.epochs {
		moves += len(es)
	}
	return len(r.holders), moves
}

// left returns why the owners of p have stopped so far.
func (r *register) left(p int) []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.causes[p])
}

// count returns how many partitions each owner has.
func (r *register) count() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := make(map[string]int)
	for _, who := range r.holders {
		n[who]++
	}
	return n
}

// newLeases returns leases of 8 partitions, whose owner takes the time slow to finish.
func newLeases(b *stages.Bus, who string, r *register, slow time.Duration) *Leases {
	return &Leases{
		Bus: b, Group: "frontier", Owner: who, Partitions: 8, Log: b.Log, ttl: leaseTTL,
		RunPartition: func(ctx context.Context, p int, epoch uint64) error {
			r.enter(p, who, epoch)
			defer func() { r.leave(p, who, context.Cause(ctx)) }()
			<-ctx.Done()
			if slow > 0 {
				time.Sleep(slow)
			}
			return nil
		},
	}
}

func TestLeasesOneOwner(t *testing.T) {
	t.Parallel()
	br, b := openLeases(t)
	r := &register{t: t}
	l := newLeases(b, "a", r, 0)
	j := await.Start(t, l.Run)
	await.Eventually(t, "a has all", func() bool { return r.count()["a"] == 8 })
	b2, _ := stagestest.Dial(t, br.URL())
	await.Start(t, newLeases(b2, "b", r, 0).Run)
	await.Always(t, aWhile, "a keeps all", func() bool { return r.count()["a"] == 8 })
	if got := l.Owned(); len(got) != 8 {
		t.Errorf("a says it owns %v", got)
	}
	if err := j.End(); err != nil {
		t.Fatal(err)
	}
	// An orderly release frees it at once.
	began := time.Now()
	await.Eventually(t, "b has all", func() bool { return r.count()["b"] == 8 })
	t.Logf("took %s", time.Since(began))
}

func TestLeasesTakeover(t *testing.T) {
	t.Parallel()
	br, b := openLeases(t)
	far, _ := stagestest.Dial(t, br.URL())
	r := &register{t: t}
	await.Start(t, newLeases(far, "a", r, 0).Run)
	await.Eventually(t, "a has all", func() bool { return r.count()["a"] == 8 })
	await.Start(t, newLeases(b, "b", r, 0).Run)
	far.NC.Close() // a vanishes from the server, and must notice by its own clock
	await.Eventually(t, "b has all", func() bool { return r.count()["b"] == 8 })
}

// A process that was killed has its partitions back at once when it returns, under a new epoch.
func TestLeasesSameOwner(t *testing.T) {
	t.Parallel()
	_, b := openLeases(t)
	dead := newLeases(b, "a", &register{t: t}, 0)
	kv, err := b.JS.KeyValue(t.Context(), messages.BucketLeases)
	if err != nil {
		t.Fatal(err)
	}
	var old uint64
	for p := range 8 {
		if old, err = kv.Create(t.Context(), dead.key(p), dead.value()); err != nil {
			t.Fatal(err)
		}
	}
	r := &register{t: t}
	began := time.Now()
	await.Start(t, newLeases(b, "a", r, 0).Run)
	await.Eventually(t, "a has all", func() bool { return r.count()["a"] == 8 })
	t.Logf("took %s", time.Since(began))
	r.mu.Lock()
	defer r.mu.Unlock()
	for p, es := range r.epochs {
		if es[0] <= old {
			t.Errorf("partition %d has epoch %d, had up to %d before", p, es[0], old)
		}
	}
}

func TestLeasesFair(t *testing.T) {
	t.Parallel()
	br, b := openLeases(t)
	r := &register{t: t}
	fair := func(b *stages.Bus, who string) *await.Job {
		l := newLeases(b, who, r, 0)
		l.Fair = true
		return await.Start(t, l.Run)
	}
	fair(b, "a")
	await.Eventually(t, "a has all", func() bool { return r.count()["a"] == 8 })
	b2, _ := stagestest.Dial(t, br.URL())
	second := fair(b2, "b")
	half := func() bool { n := r.count(); return n["a"] == 4 && n["b"] == 4 }
	await.Eventually(t, "each has half", half)
	await.Always(t, aWhile, "it stays so", half)
	if err := second.End(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	await.Eventually(t, "a has all again", func() bool { return r.count()["a"] == 8 })
	t.Logf("what b gave up lay idle for %s", time.Since(began))
}

// A slow handover of a partition must not cost the lease of the others, or its own.
func TestLeasesSlowToFinish(t *testing.T) {
	slow.Skip(t)
	t.Parallel()
	br, b := openLeases(t)
	r := &register{t: t}
	a := newLeases(b, "a", r, leaseTTL*5/4)
	a.Fair = true
	j := await.Start(t, a.Run)
	await.Eventually(t, "a has all", func() bool { return r.count()["a"] == 8 })
	b2, _ := stagestest.Dial(t, br.URL())
	l := newLeases(b2, "b", r, 0)
	l.Fair = true
	await.Start(t, l.Run)
	await.Eventually(t, "each has half", func() bool { n := r.count(); return n["a"] == 4 && n["b"] == 4 })
	if err := j.End(); err != nil {
		t.Fatal(err)
	}
	await.Eventually(t, "b has all", func() bool { return r.count()["b"] == 8 })
}

// An owner that cannot reach the server stops before its lease ends there.
func TestLeasesFence(t *testing.T) {
	t.Parallel()
	br, b := openLeases(t)
	p := natstest.NewProxy(t, br)
	far, _ := stagestest.Dial(t, p.URL())
	r := &register{t: t}
	l := newLeases(far, "a", r, 0)
	await.Start(t, l.Run)
	await.Eventually(t, "a has all", func() bool { return r.count()["a"] == 8 })
	p.Swallow.Store(true)
	await.Start(t, newLeases(b, "b", r, 0).Run)
	// The register fails the test if the two overlap.
	await.Eventually(t, "b has all", func() bool { return r.count()["b"] == 8 })
	p.Cut()
	await.Always(t, aWhile, "b keeps all", func() bool { return r.count()["b"] == 8 })
}

// A process never works on a partition twice at once, even if it loses a lease and could acquire it
// again while it still finishes.
func TestLeasesNoOverlap(t *testing.T) {
	slow.Skip(t)
	t.Parallel()
	_, b := openLeases(t)
	r := &register{t: t}
	l := newLeases(b, "a", r, leaseTTL/2)
	await.Start(t, l.Run)
	await.Eventually(t, "a has all", func() bool { return r.count()["a"] == 8 })
	kv, err := b.JS.KeyValue(t.Context(), messages.BucketLeases)
	if err != nil {
		t.Fatal(err)
	}
	if err := kv.Delete(t.Context(), l.key(3)); err != nil {
		t.Fatal(err)
	}
	await.Eventually(t, "a has it again", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.epochs[3]) >= 2
	})
}

func TestLeasesOwnFails(t *testing.T) {
	t.Parallel()
	_, b := openLeases(t)
	broken := errors.New("disk is gone")
	l := newLeases(b, "a", &register{t: t}, 0)
	own := l.RunPartition
	l.RunPartition = func(ctx context.Context, p int, epoch uint64) error {
		if p == 5 {
			return broken
		}
		return own(ctx, p, epoch)
	}
	err := await.Start(t, l.Run).Wait()
	if !errors.Is(err, broken) || err.Error() != "partition 5: disk is gone" {
		t.Errorf("Run returned %v", err)
	}
	if got := l.Owned(); len(got) != 0 {
		t.Errorf("still owns %v", got)
	}
	kv, err := b.JS.KeyValue(t.Context(), messages.BucketLeases)
	if err != nil {
		t.Fatal(err)
	}
	if keys, err := kv.Keys(t.Context()); !errors.Is(err, jetstream.ErrNoKeysFound) {
		slices.Sort(keys)
		t.Errorf("keys are left: %v, %v", keys, err)
	}
}
