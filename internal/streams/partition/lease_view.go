package partition

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/jsontext"
	"seine/internal/base/sleep"
	"seine/pkg/stages"
)

// leaseView is what one process sees of the leases and members of its group. It
// may be behind; what it says is a hint.
type leaseView struct {
	bus     *stages.Bus
	kv      jetstream.KeyValue
	group   string
	ttl     time.Duration
	synced  chan struct{} // closed after the first look at the whole bucket
	changed chan struct{} // something became free, or a member came or went

	mu   sync.Mutex
	look int // how many times the watch was begun
	seen map[string]observedLease
}

// observedLease is the last value of a key. It counts for as long as the key lives
// on the server, by this process's own clock: what expires there is not told.
type observedLease struct {
	value leaseValue
	at    time.Time
	look  int
}

func newLeaseView(b *stages.Bus, kv jetstream.KeyValue, group string, ttl time.Duration) *leaseView {
	return &leaseView{
		bus: b, kv: kv, group: group, ttl: ttl, seen: make(map[string]observedLease),
		synced: make(chan struct{}), changed: make(chan struct{}, 1),
	}
}

var errWatchEnded = errors.New("the watch ended")

// watch keeps the view current until ctx is done.
func (v *leaseView) watch(ctx context.Context) {
	failing := false
	for ctx.Err() == nil {
		err := v.session(ctx)
		if err != nil && ctx.Err() == nil {
			if !failing {
				v.bus.Log.Warn("cannot watch leases", "error", err)
			}
			failing = true
			_ = sleep.For(ctx, v.ttl/20)
			continue
		}
		failing = false
	}
}

// session watches until the connection was lost and is back. What the old one
// missed is found by reading all keys again.
func (v *leaseView) session(ctx context.Context) error {
	ctx, cancel := v.bus.UntilReconnected(ctx)
	defer cancel()
	w, err := v.kv.WatchFiltered(ctx, []string{"lease." + v.group + ".*", "member." + v.group + ".*"})
	if err != nil {
		return fmt.Errorf("watch bucket %s: %w", v.kv.Bucket(), err)
	}
	defer func() {
		_ = w.Stop()
		go func() { // the watcher blocks on what is not read
			for range w.Updates() {
			}
		}()
	}()
	v.mu.Lock()
	v.look++
	v.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-w.Updates():
			switch {
			case !ok && ctx.Err() != nil:
				return nil
			case !ok:
				return errWatchEnded
			case e == nil:
				v.dropUnseen()
			default:
				v.see(e)
			}
		}
	}
}

// dropUnseen forgets what the bucket no longer had at the begin of this look.
func (v *leaseView) dropUnseen() {
	v.mu.Lock()
	for key, s := range v.seen {
		if s.look != v.look {
			delete(v.seen, key)
		}
	}
	v.mu.Unlock()
	select {
	case <-v.synced:
	default:
		close(v.synced)
	}
	v.signal()
}

func (v *leaseView) see(e jetstream.KeyValueEntry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e.Operation() != jetstream.KeyValuePut {
		delete(v.seen, e.Key())
		v.signal()
		return
	}
	s := observedLease{at: time.Now(), look: v.look}
	if jsontext.Unmarshal(e.Value(), &s.value) != nil {
		return
	}
	before, known := v.seen[e.Key()]
	v.seen[e.Key()] = s
	if strings.HasPrefix(e.Key(), "member.") && (!known || !slices.Equal(before.value.Only, s.value.Only)) {
		v.signal()
	}
}

func (v *leaseView) signal() {
	select {
	case v.changed <- struct{}{}:
	default:
	}
}

// live returns the value of a key that has not expired. v.mu is held.
func (v *leaseView) live(key string) (leaseValue, bool) {
	s, ok := v.seen[key]
	return s.value, ok && time.Since(s.at) < v.ttl
}

// free reports whether p seems to have no owner but a former run of this one.
func (v *leaseView) free(p int, owner string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	l, held := v.live("lease." + v.group + "." + strconv.Itoa(p))
	return !held || l.Owner == owner
}

// members returns the names of the other processes that share evenly, and the
// partitions that are reserved for those that do not.
func (v *leaseView) members(me string) (others []string, reserved map[int]bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	reserved = make(map[int]bool)
	for key := range v.seen {
		val, ok := v.live(key)
		name, member := strings.CutPrefix(key, "member."+v.group+".")
		switch {
		case !ok || name == me:
		case member && len(val.Only) == 0:
			others = append(others, name)
		case member:
			for _, p := range val.Only {
				reserved[p] = true
			}
		case val.Static && keyToken(val.Owner) != me:
			if p, err := strconv.Atoi(key[strings.LastIndexByte(key, '.')+1:]); err == nil {
				reserved[p] = true
			}
		}
	}
	return others, reserved
}

// expiry returns when the first of the members is taken for dead, if it is not
// heard of again.
func (v *leaseView) expiry() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	first := time.Now().Add(v.ttl)
	for key, s := range v.seen {
		if end := s.at.Add(v.ttl); strings.HasPrefix(key, "member.") && end.Before(first) && time.Now().Before(end) {
			first = end
		}
	}
	return first
}
