package scrape

import (
	"context"
	"errors"
	"fmt"
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

// maxHosts bounds the hosts that are remembered: those that have rested go first.
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
		t.leave(host, h)
		return nil, ctx.Err()
	case <-timer.C:
		t.leave(host, h)
		return nil, fmt.Errorf("%w: others wait for %s already", ErrBusy, host)
	}
	if h.due.After(until) {
		wait := time.Until(h.due)
		<-h.held
		t.leave(host, h)
		return nil, fmt.Errorf("%w: %s for another %s", ErrBusy, host, wait.Round(time.Second))
	}
	if err := sleep.For(ctx, time.Until(h.due)); err != nil {
		<-h.held
		t.leave(host, h)
		return nil, err
	}
	return func(rest time.Duration) {
		h.due = time.Now().Add(rest)
		<-h.held
		t.leave(host, h)
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

// leave forgets hosts that have rested when there are many.
func (t *turns) leave(host string, h *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h.users--
	if len(t.hosts) < maxHosts {
		return
	}
	now := time.Now()
	for name, other := range t.hosts {
		if other.users == 0 && other.due.Before(now) { // nobody else touches it
			delete(t.hosts, name)
		}
	}
}
