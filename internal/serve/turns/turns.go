// Package turns bounds how many operations a server runs at a time, for each caller and in all.
package turns

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Turns are those of one kind of operation. It is safe for concurrent use.
type Turns struct {
	each int64
	wait time.Duration
	all  *semaphore.Weighted

	mu      sync.Mutex
	callers map[string]*callerTurns // that have turns, or wait for some
}

type callerTurns struct {
	*semaphore.Weighted
	users int
}

// New returns turns of which a caller has at most each at a time, and all callers together have at most all.
func New(each, all int64, wait time.Duration) *Turns {
	return &Turns{each: each, wait: wait, all: semaphore.NewWeighted(all), callers: make(map[string]*callerTurns)}
}

// Begin waits for a turn of a caller, at most for the wait of New. Those who wait get turns in the order in which they came. It
// returns the function that ends the turn, nil if none came in time or ctx is done.
func (t *Turns) Begin(ctx context.Context, who string) (end func()) {
	if ctx.Err() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, t.wait)
	defer cancel()
	own := t.enter(who)
	acquired := own.TryAcquire(1) || own.Acquire(ctx, 1) == nil
	if acquired && (t.all.TryAcquire(1) || t.all.Acquire(ctx, 1) == nil) {
		return func() {
			t.all.Release(1)
			t.leave(who, true)
		}
	}
	t.leave(who, acquired)
	return nil
}

func (t *Turns) enter(who string) *callerTurns {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.callers[who]
	if own == nil {
		own = &callerTurns{Weighted: semaphore.NewWeighted(t.each)}
		t.callers[who] = own
	}
	own.users++
	return own
}

func (t *Turns) leave(who string, acquired bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.callers[who]
	if acquired {
		own.Release(1)
	}
	if own.users--; own.users == 0 {
		delete(t.callers, who)
	}
}
