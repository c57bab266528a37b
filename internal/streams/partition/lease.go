package partition

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
	"golang.org/x/sync/errgroup"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Reasons why an owner must stop, as context.Cause of its context; any other cause means that the
// process ends.
var (
	// ErrRebalanced: the partition belongs to another process's share now. The lease is held until
	// the owner has finished, then another process continues.
	ErrRebalanced = errors.New("partition was moved to another process")
	// ErrLost: the lease ended or could not be renewed. Another process may own the partition
	// already.
	ErrLost = errors.New("the lease of the partition was lost")
)

// Leases shares the partitions of a stage between its processes. Each partition is a key in
// BucketLeases, acquired and renewed by compare-and-set; a key that is not renewed expires with the
// bucket's age. An owner that cannot renew must stop before that, by its own clock. So two owners
// can overlap only if a process is frozen: the epoch distinguishes their actions.
//
// Processes see each other through a watch on the bucket. It decides when to try and how many
// leases to take, never who owns one: only compare-and-set does.
type Leases struct {
	Bus        *stages.Bus
	Group      string // "frontier", or "writer-" and its name
	Owner      string // stays the same after a restart on the same state
	Partitions int
	// Fair shares the partitions evenly with the other processes that are Fair; without it one
	// process takes all.
	Fair bool
	// Pinned, if not empty, lists the partitions that this process takes, and no others, whatever
	// Fair says. While it lives the other processes leave them alone or give them up, and it does
	// not count for the shares of the rest.
	Pinned []int
	Log    *slog.Logger
	// RunPartition works on a partition until ctx is done. It may take time to finish then: the
	// lease is held until it returns. epoch grows from owner to owner. If it returns nil by itself
	// the partition is released, and this process acquires it again no sooner than after
	// LeaseTTL/4. An error ends Run.
	RunPartition func(ctx context.Context, partition int, epoch uint64) error

	ttl      time.Duration // LeaseTTL; shorter in tests
	kv       jetstream.KeyValue
	run      string // distinguishes this run from others of the same owner
	began    time.Time
	view     *leaseView
	ended    chan *lease
	rest     map[int]time.Time // by partition: no attempt before this time
	announce time.Time         // when to announce this process again
	troubles map[string]string // last error, by operation

	mu      sync.Mutex
	held    map[int]*lease // changed only by Run
	usurped error          // set when another process with the same owner has taken a lease
}

// lease is Run's state of a key that this process holds.
type lease struct {
	partition int
	epoch     uint64
	revision  uint64
	renewed   time.Time // before the request: the lease lasts at least from then
	next      time.Time // when to renew, or to retry the deletion
	ctx       context.Context
	stop      context.CancelCauseFunc
	fence     *time.Timer // stops the owner before the lease can expire
	gone      bool        // this process no longer holds the key
	finished  bool        // RunPartition has returned
	early     bool        // RunPartition returned before its context was cancelled
	err       error       // error of RunPartition
}

// staying reports whether the owner has not been told to stop.
func (le *lease) staying() bool { return le.ctx.Err() == nil }

// every is how often leases are renewed, ownerDeadline how long an owner continues without renewal,
// retryInterval when to try again for leases that may be free.
func (l *Leases) every() time.Duration         { return l.ttl / 4 }
func (l *Leases) ownerDeadline() time.Duration { return l.ttl * 7 / 10 }
func (l *Leases) retryInterval() time.Duration { return l.ttl / 40 }

// Validate returns an error if Pinned is invalid.
func (l *Leases) Validate() error {
	seen := make(map[int]bool)
	for _, p := range l.Pinned {
		switch {
		case p < 0 || p >= l.Partitions:
			return fmt.Errorf("partition %d: there are %d, from 0 to %d", p, l.Partitions, l.Partitions-1)
		case seen[p]:
			return fmt.Errorf("partition %d is listed twice", p)
		}
		seen[p] = true
	}
	return nil
}

// Run acquires, renews and releases leases until ctx is done. Then it tells the owners to finish,
// waits for them, and releases their leases.
func (l *Leases) Run(ctx context.Context) error {
	if err := l.Validate(); err != nil {
		return err
	}
	kv, err := l.Bus.Bucket(ctx, messages.BucketLeases)
	if err != nil {
		return err
	}
	l.reset(kv)
	leave, err := l.claimIdentity(ctx)
	if err != nil {
		return err
	}
	defer leave()
	watch, stop := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() { l.view.watch(watch) })
	defer watching.Wait()
	defer stop()
	l.putMember() // before reading the other members: of two that start at once, one sees the other
	select {
	case <-l.view.synced:
	case <-ctx.Done():
	case <-time.After(l.every()): // the watch does not work: continue without it
	}
	return l.loop(ctx)
}

func (l *Leases) reset(kv jetstream.KeyValue) {
	l.ttl = cmp.Or(l.ttl, messages.LeaseTTL)
	l.kv, l.run, l.began = kv, nuid.Next(), time.Now().UTC()
	l.view = newLeaseView(l.Bus, kv, l.Group, l.ttl)
	l.ended = make(chan *lease, l.Partitions)
	l.rest, l.troubles = make(map[int]time.Time), make(map[string]string)
	l.announce = time.Time{}
	leasesHeld.WithLabelValues(l.Group).Set(0)
	leasesLost.WithLabelValues(l.Group)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held, l.usurped = make(map[int]*lease), nil
}

// loop is the only function that changes leases. After ctx is done, or an owner has failed, it
// continues until all owners have finished.
func (l *Leases) loop(ctx context.Context) error {
	var failed error
	quit := ctx.Done()
	for {
		l.renew()
		if l.usurped != nil && failed == nil {
			failed, quit = l.usurped, nil
			l.leaveGroup()
		}
		l.free(quit == nil)
		wait := l.retryInterval()
		if quit == nil {
			if len(l.held) == 0 {
				return failed
			}
		} else {
			wait = l.balance(ctx)
		}
		select {
		case <-quit:
			quit = nil
			l.leaveGroup()
		case le := <-l.ended:
			if err := l.conclude(le); err != nil {
				failed, quit = cmp.Or(failed, err), nil
				l.leaveGroup()
			}
		case <-l.view.changed:
		case <-time.After(wait):
		}
	}
}

// Owned returns the partitions whose leases this process holds now.
func (l *Leases) Owned() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	var ps []int
	for p, le := range l.held {
		if !le.gone {
			ps = append(ps, p)
		}
	}
	slices.Sort(ps)
	return ps
}

// balance announces this process, releases partitions beyond its share, and acquires those missing.
// It returns when to call it again.
func (l *Leases) balance(ctx context.Context) time.Duration {
	if time.Now().After(l.announce) {
		l.putMember()
	}
	pool, quota := l.share()
	l.releaseExcess(pool, quota)
	staying := 0
	for _, le := range l.held {
		if le.staying() {
			staying++
		}
	}
	for _, p := range pool {
		if staying >= quota || ctx.Err() != nil {
			break
		}
		if !l.eligible(p, pool[0]) {
			continue
		}
		taken, err := l.acquire(p)
		if err != nil {
			break
		}
		if taken {
			staying++
		}
	}
	if staying < quota {
		return l.retryInterval()
	}
	next := time.Now().Add(l.every())
	for _, le := range l.held {
		if !le.gone && le.next.Before(next) {
			next = le.next
		}
	}
	if end := l.view.expiry(); end.Before(next) {
		next = end // otherwise the partitions of a dead member would wait for the next renewal
	}
	return max(time.Until(next), 0)
}

// share returns the partitions that this process may take, and how many of them. Fair processes get
// P/members each, and the first ones by name get one more while some are left. So an even share is
// stable.
func (l *Leases) share() (pool []int, quota int) {
	if len(l.Pinned) > 0 {
		return slices.Sorted(slices.Values(l.Pinned)), len(l.Pinned)
	}
	others, reserved := l.view.members(l.me())
	for p := range l.Partitions {
		if !reserved[p] {
			pool = append(pool, p)
		}
	}
	if !l.Fair {
		return pool, len(pool)
	}
	rank := 0
	for _, name := range others {
		if name < l.me() {
			rank++
		}
	}
	members := len(others) + 1
	quota = len(pool) / members
	if rank < len(pool)%members {
		quota++
	}
	return pool, quota
}

// eligible reports whether trying to acquire p makes sense. first is the first of the partitions
// that this process may take.
func (l *Leases) eligible(p, first int) bool {
	if l.held[p] != nil || time.Now().Before(l.rest[p]) {
		return false
	}
	if !l.Fair && len(l.Pinned) == 0 && p != first {
		// All or none: the first decides between two.
		if le := l.held[first]; le == nil || !le.staying() {
			return false
		}
	}
	return l.view.free(p, l.Owner)
}

// putMember announces this process to the others.
func (l *Leases) putMember() {
	l.announce = time.Now().Add(l.every())
	if !l.Fair && len(l.Pinned) == 0 {
		return
	}
	ctx, cancel := l.timeout()
	defer cancel()
	_, err := l.kv.Put(ctx, l.memberKey(), messages.Encode(leaseValue{Owner: l.Owner, Since: l.began, Run: l.run, Only: l.Pinned}))
	l.trouble("announce", err)
}

// releaseExcess releases leases outside the pool or over the quota, the last acquired first. The
// leases are renewed until the owners have finished.
func (l *Leases) releaseExcess(pool []int, quota int) {
	var staying []*lease
	for p, le := range l.held {
		switch {
		case !le.staying():
		case !slices.Contains(pool, p):
			l.Log.Info("releasing a partition for the process it is assigned to", "partition", p)
			le.stop(ErrRebalanced)
		default:
			staying = append(staying, le)
		}
	}
	slices.SortFunc(staying, func(a, b *lease) int { return cmp.Compare(a.epoch, b.epoch) })
	for i := quota; i < len(staying); i++ {
		l.Log.Info("moving a partition to another process", "partition", staying[i].partition)
		staying[i].stop(ErrRebalanced)
	}
}

// leaveGroup tells every owner that the process ends, and the other processes that they may share
// its partitions.
func (l *Leases) leaveGroup() {
	for _, le := range l.held {
		le.stop(nil)
	}
	if l.usurped == nil && (l.Fair || len(l.Pinned) > 0) {
		ctx, cancel := l.timeout()
		defer cancel()
		l.trouble("leave", l.kv.Delete(ctx, l.memberKey()))
	}
}

// acquire tries to become the owner of p. An error comes from the server: trying other partitions
// now is useless.
func (l *Leases) acquire(p int) (bool, error) {
	asked := time.Now()
	rev, err := l.tryAcquire(p)
	if errors.Is(err, errHeld) {
		l.rest[p] = asked.Add(l.retryInterval())
		err = nil
	}
	l.trouble("claim", err)
	if rev == 0 {
		return false, err
	}
	ctx, stop := context.WithCancelCause(context.Background())
	le := &lease{partition: p, epoch: rev, revision: rev, renewed: asked, next: asked.Add(l.every()), ctx: ctx, stop: stop}
	le.fence = time.AfterFunc(l.ownerDeadline()-time.Since(asked), func() {
		if ctx.Err() == nil {
			leasesLost.WithLabelValues(l.Group).Inc()
			l.Log.Warn("lease could not be renewed; releasing the partition", "partition", p)
		}
		stop(ErrLost)
	})
	l.mu.Lock()
	l.held[p] = le
	leasesHeld.WithLabelValues(l.Group).Set(float64(len(l.held)))
	l.mu.Unlock()
	go func() {
		le.err = l.RunPartition(ctx, p, rev)
		le.early = ctx.Err() == nil
		l.ended <- le
	}()
	return true, nil
}

// renew extends the leases that are due, in parallel: one lost answer must not cost the others.
func (l *Leases) renew() {
	var g errgroup.Group
	g.SetLimit(16)
	now := time.Now()
	var due []*lease
	for _, le := range l.held {
		if le.gone || le.finished || now.Before(le.next) {
			continue
		}
		due = append(due, le)
		g.Go(func() error { return l.extend(le) })
	}
	err := g.Wait()
	if len(due) > 0 {
		l.trouble("renew", err)
	}
	for _, le := range due {
		if le.gone && le.staying() {
			leasesLost.WithLabelValues(l.Group).Inc()
			l.Log.Warn("lease lost to another owner", "partition", le.partition)
			le.stop(ErrLost)
		}
	}
}

// conclude handles the return of an owner. An error ends Run.
func (l *Leases) conclude(le *lease) error {
	le.fence.Stop()
	early := le.early
	le.stop(nil)
	le.finished, le.next = true, time.Time{}
	switch {
	case early && le.err != nil:
		return fmt.Errorf("partition %d: %w", le.partition, le.err)
	case early:
		l.rest[le.partition] = time.Now().Add(l.every())
		l.Log.Info("owner released its partition", "partition", le.partition)
	case le.err != nil && !errors.Is(le.err, context.Cause(le.ctx)) && !errors.Is(le.err, context.Canceled):
		l.Log.Warn("owner failed to finish", "partition", le.partition, "error", le.err)
	}
	return nil
}

// free deletes the keys of owners that have finished, so that others can take them at once. last
// tries only once, since the keys expire anyway.
func (l *Leases) free(last bool) {
	var g errgroup.Group
	g.SetLimit(16)
	now := time.Now()
	for _, le := range l.held {
		if le.finished && !le.gone && !now.Before(le.next) {
			g.Go(func() error { return l.remove(le) })
		}
	}
	if err := g.Wait(); err != nil {
		l.trouble("release", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.held, func(_ int, le *lease) bool {
		return le.finished && (le.gone || last || time.Since(le.renewed) > l.ttl)
	})
	leasesHeld.WithLabelValues(l.Group).Set(float64(len(l.held)))
}

// trouble logs errors of the server, once for every change.
func (l *Leases) trouble(what string, err error) {
	now := ""
	if err != nil {
		now = err.Error()
	}
	before := l.troubles[what]
	l.troubles[what] = now
	switch {
	case err == nil && before != "":
		l.Log.Info("lease operation works again", "operation", what)
	case err == nil:
	case before == "":
		l.Log.Warn("lease operation failed", "operation", what, "error", err)
	default:
		l.Log.Debug("lease operation failed", "operation", what, "error", err)
	}
}

// timeout limits one request. It is not cancelled with Run: the answer to a request that was sent
// is worth waiting for.
func (l *Leases) timeout() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), l.every())
}
