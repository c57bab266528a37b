// Package turns limits concurrent operations of a server, for each caller and in total.
package turns

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Turns limits one kind of operation. It is safe for concurrent use.
type Turns struct {
	each int64
	wait time.Duration
	all  *semaphore.Weighted

	mu      sync.Mutex
	callers map[string]*callerTurns // callers that have or await turns
}

type callerTurns struct {
	*semaphore.Weighted
	users int
}

// New returns turns that permit each caller up to each concurrent operations, and all callers
// together up to all. wait bounds the wait for a turn.
func New(each, all int64, wait time.Duration) *Turns {
	return &Turns{each: each, wait: wait, all: semaphore.NewWeighted(all), callers: make(map[string]*callerTurns)}
}

// Acquire waits for a turn of a caller, for the wait of New at most. Waiting callers are served in
// order. It returns the function that ends the turn, nil if the wait is over or ctx is done.
func (t *Turns) Acquire(ctx context.Context, who string) (end func()) {
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
