package stages

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
)

// Leases shares the partitions of a stage between its processes. Each
// partition is a key in BucketLeases, taken and renewed by compare-and-set; a
// key that is not renewed expires with the bucket's age. An owner that cannot
// renew stops before that, by its own clock, so two owners can overlap only if
// a process is frozen: what they do is told apart by the epoch.
type Leases struct {
	Bus        *Bus
	Group      string // "frontier", or "writer-" and its name
	Owner      string // the same again after a restart on the same state
	Partitions int
	// Fair leaves others their share; without it one process takes all.
	Fair bool
	Log  *slog.Logger
	// Own works on a partition until ctx is done. Epoch grows from owner to
	// owner. An error ends Run.
	Own func(ctx context.Context, partition int, epoch uint64) error

	ttl    time.Duration // LeaseTTL; tests have less patience
	kv     jetstream.KeyValue
	mu     sync.Mutex
	owned  map[int]*lease
	ending map[int]*lease // no longer owned, still finishing
	fail   chan error
	wg     sync.WaitGroup
}

type lease struct {
	revision uint64
	renewed  time.Time // before the server was asked: the lease lasts at least from then
	leaving  bool      // given up, still finishing
	stop     context.CancelFunc
	done     chan struct{}
}

// leaseValue is what a key holds, for a person who looks.
type leaseValue struct {
	Owner string    `json:"owner"`
	Since time.Time `json:"since"`
}

// every is how often leases are renewed, fence how long without that an owner
// goes on.
func (l *Leases) every() time.Duration { return l.ttl / 4 }
func (l *Leases) fence() time.Duration { return l.ttl * 7 / 10 }

// Run takes, renews and gives up leases until ctx is done; then it waits for
// the owners to finish and releases what they had.
func (l *Leases) Run(ctx context.Context) error {
	kv, err := l.Bus.JS.KeyValue(ctx, messages.BucketLeases)
	if err != nil {
		return fmt.Errorf("open bucket %s: %w", messages.BucketLeases, err)
	}
	l.ttl = cmp.Or(l.ttl, messages.LeaseTTL)
	l.kv, l.fail = kv, make(chan error, l.Partitions)
	l.mu.Lock()
	l.owned, l.ending = make(map[int]*lease), make(map[int]*lease)
	l.mu.Unlock()
	t := time.NewTicker(l.every())
	defer t.Stop()
	for {
		l.tick(ctx)
		select {
		case <-ctx.Done():
			l.releaseAll()
			return nil
		case err := <-l.fail:
			l.releaseAll()
			return err
		case <-t.C:
		}
	}
}

// Owned returns the partitions that this process owns now.
func (l *Leases) Owned() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	var ps []int
	for p := range l.owned {
		ps = append(ps, p)
	}
	return ps
}

func (l *Leases) tick(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, l.every())
	defer cancel()
	l.renew(ctx)
	share := l.Partitions
	if l.Fair {
		share = l.share(ctx)
	}
	l.shed(share)
	for p := range l.Partitions {
		if ctx.Err() == nil && l.free(p, share) {
			l.take(ctx, p)
		}
	}
}

// free reports whether this process may try to take p.
func (l *Leases) free(p, share int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if le := l.ending[p]; le != nil {
		select {
		case <-le.done:
			delete(l.ending, p)
		default:
			return false
		}
	}
	if !l.Fair && p > 0 && l.owned[0] == nil {
		return false // all or none: partition 0 decides between two
	}
	return l.owned[p] == nil && len(l.owned) < share
}

// renew extends every lease, and ends those that were lost or could not be
// renewed in time.
func (l *Leases) renew(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p, le := range l.owned {
		asked := time.Now()
		rev, err := l.kv.Update(ctx, l.key(p), l.value(), le.revision)
		switch {
		case err == nil:
			le.revision, le.renewed = rev, asked
		case errors.Is(err, jetstream.ErrKeyExists) || isWrongSequence(err):
			l.Log.Warn("lease lost to another owner", "partition", p)
			l.end(p, le)
		case time.Since(le.renewed) > l.fence():
			l.Log.Warn("lease could not be renewed, letting go", "partition", p, "error", err)
			l.end(p, le)
		}
	}
}

func isWrongSequence(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (int(api.ErrorCode) == 10071 || int(api.ErrorCode) == 10164)
}

// end stops the owner of a partition. l.mu is held.
func (l *Leases) end(p int, le *lease) {
	le.stop()
	delete(l.owned, p)
	l.ending[p] = le
}

// share says how many partitions are this process's fair part: it counts the
// processes that said lately that they are there.
func (l *Leases) share(ctx context.Context) int {
	_, _ = l.kv.Put(ctx, l.member(), l.value())
	members := 0
	if keys, err := l.kv.ListKeysFiltered(ctx, "member."+l.Group+".*"); err == nil {
		for range keys.Keys() {
			members++
		}
	}
	members = max(1, members)
	return (l.Partitions + members - 1) / members
}

// shed gives up what is over the share, for others to take. It does not wait
// for the owners to finish: their leases, and all others, are renewed until
// they have.
func (l *Leases) shed(share int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	staying := 0
	for _, le := range l.owned {
		if !le.leaving {
			staying++
		}
	}
	for p, le := range l.owned {
		if staying > share && !le.leaving {
			le.leaving = true
			staying--
			l.wg.Go(func() { l.release(p, le) })
		}
	}
}

// release stops the owner of a partition, waits for it, and frees the key.
func (l *Leases) release(p int, le *lease) {
	le.stop()
	<-le.done
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owned[p] != le {
		return
	}
	delete(l.owned, p)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = l.kv.Delete(ctx, l.key(p), jetstream.LastRevision(le.revision))
}

func (l *Leases) releaseAll() {
	l.mu.Lock()
	all := make(map[int]*lease, len(l.owned))
	for p, le := range l.owned {
		all[p] = le
		le.stop()
	}
	l.mu.Unlock()
	// Finishing may take a while; the leases must hold until it is done.
	keep, stop := context.WithCancel(context.Background())
	go func() {
		t := time.NewTicker(l.every())
		defer t.Stop()
		for {
			select {
			case <-keep.Done():
				return
			case <-t.C:
				l.renew(keep)
			}
		}
	}()
	for p, le := range all {
		l.release(p, le)
	}
	stop()
	l.wg.Wait()
	if l.Fair { // or the others would leave its share idle until the key expires
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = l.kv.Delete(ctx, l.member())
	}
}

// take tries to become the owner of p.
func (l *Leases) take(ctx context.Context, p int) {
	asked := time.Now()
	rev, err := l.claim(ctx, p)
	if err != nil {
		return
	}
	own, stop := context.WithCancel(context.Background())
	le := &lease{revision: rev, renewed: asked, stop: stop, done: make(chan struct{})}
	l.mu.Lock()
	l.owned[p] = le
	l.mu.Unlock()
	l.wg.Go(func() {
		defer close(le.done)
		if err := l.Own(own, p, rev); err != nil && own.Err() == nil {
			l.fail <- fmt.Errorf("partition %d: %w", p, err)
		}
	})
}

// claim creates the key of p, or takes over what this same owner had before.
func (l *Leases) claim(ctx context.Context, p int) (uint64, error) {
	rev, err := l.kv.Create(ctx, l.key(p), l.value())
	if err == nil {
		return rev, nil
	}
	e, err := l.kv.Get(ctx, l.key(p))
	if err != nil {
		return 0, err
	}
	var v leaseValue
	if err := json.Unmarshal(e.Value(), &v); err != nil || v.Owner != l.Owner {
		return 0, errHeld
	}
	return l.kv.Update(ctx, l.key(p), l.value(), e.Revision())
}

var errHeld = errors.New("held by another owner")

func (l *Leases) member() string { return "member." + l.Group + "." + keyToken(l.Owner) }

func (l *Leases) key(p int) string { return "lease." + l.Group + "." + strconv.Itoa(p) }

func (l *Leases) value() []byte {
	v, err := json.Marshal(leaseValue{Owner: l.Owner, Since: time.Now().UTC()})
	if err != nil {
		panic(err) // a string and a time
	}
	return v
}

// keyToken makes s one token of a KV key.
func keyToken(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, s)
}
