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

// leaseView is one process's view of the leases and members of its group. It may be out of date, so
// it is only a hint.
type leaseView struct {
	bus     *stages.Bus
	kv      jetstream.KeyValue
	group   string
	ttl     time.Duration
	synced  chan struct{} // closed after the first read of the whole bucket
	changed chan struct{} // signals that something became free, or a member came or left

	mu   sync.Mutex
	look int // number of sessions of the watch
	seen map[string]observedLease
}

// observedLease is the last value of a key. It is valid for the lifetime of the key on the server,
// by this process's own clock: the server does not announce expiries.
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

// session watches until the connection was lost and has been restored. Reading all keys again finds
// the changes that the old one missed.
func (v *leaseView) session(ctx context.Context) error {
	ctx, cancel := v.bus.UntilReconnected(ctx)
	defer cancel()
	w, err := v.kv.WatchFiltered(ctx, []string{"lease." + v.group + ".*", "member." + v.group + ".*"})
	if err != nil {
		return fmt.Errorf("watch bucket %s: %w", v.kv.Bucket(), err)
	}
	defer func() {
		_ = w.Stop()
		go func() { // the watcher blocks on unread updates
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

// dropUnseen drops keys that the bucket no longer had at the beginning of this session.
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

// live returns the value of a key that has not expired. v.mu must be held.
func (v *leaseView) live(key string) (leaseValue, bool) {
	s, ok := v.seen[key]
	return s.value, ok && time.Since(s.at) < v.ttl
}

// free reports whether p seems to have no owner other than a former run of this one.
func (v *leaseView) free(p int, owner string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	l, held := v.live("lease." + v.group + "." + strconv.Itoa(p))
	return !held || l.Owner == owner
}

// members returns the names of the other processes that share evenly, and the partitions reserved
// for pinned processes.
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

// expiry returns when the first of the members is considered dead unless it announces itself again.
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
