package scrape

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"seine/internal/base/sleep"
)

// ErrBusy is returned where a host must rest for longer than somebody waits.
var ErrBusy = errors.New("the host must rest")

// turns lets one request at a time to each host, and lets the host rest between two.
type turns struct {
	mu    sync.Mutex
	hosts map[string]*turn
}

// turn is that of a host.
type turn struct {
	held  chan struct{} // has a value while somebody has the turn
	users int
	due   time.Time // no request before
}

// maxHosts bounds the hosts that are remembered. Those that have rested go first, then those that rest longest.
const maxHosts = 10_000

// take waits for the turn at a host, as long as most, and returns what gives it back with the rest it needs.
func (t *turns) take(ctx context.Context, host string, most time.Duration) (give func(rest time.Duration), err error) {
	until := time.Now().Add(most)
	h := t.enter(host)
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case h.held <- struct{}{}:
	case <-ctx.Done():
		t.leave(h)
		return nil, ctx.Err()
	case <-timer.C:
		t.leave(h)
		return nil, fmt.Errorf("%w: others wait for %s already", ErrBusy, host)
	}
	if h.due.After(until) {
		wait := time.Until(h.due)
		<-h.held
		t.leave(h)
		return nil, fmt.Errorf("%w: %s for another %s", ErrBusy, host, wait.Round(time.Second))
	}
	if err := sleep.For(ctx, time.Until(h.due)); err != nil {
		<-h.held
		t.leave(h)
		return nil, err
	}
	return func(rest time.Duration) {
		h.due = time.Now().Add(rest)
		<-h.held
		t.leave(h)
	}, nil
}

func (t *turns) enter(host string) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hosts == nil {
		t.hosts = make(map[string]*turn)
	}
	h := t.hosts[host]
	if h == nil {
		h = &turn{held: make(chan struct{}, 1)}
		t.hosts[host] = h
	}
	h.users++
	return h
}

// leave ends the use of a turn, and forgets hosts when there are many.
func (t *turns) leave(h *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h.users--
	if len(t.hosts) < maxHosts {
		return
	}
	now := time.Now()
	var resting []string
	for name, other := range t.hosts {
		switch {
		case other.users > 0: // it may be changed
		case other.due.After(now):
			resting = append(resting, name)
		default:
			delete(t.hosts, name)
		}
	}
	if over := len(t.hosts) - maxHosts*9/10; over > 0 { // room for some, so that not each request sorts
		slices.SortFunc(resting, func(a, b string) int { return t.hosts[b].due.Compare(t.hosts[a].due) })
		for _, name := range resting[:min(over, len(resting))] {
			delete(t.hosts, name)
		}
	}
}
