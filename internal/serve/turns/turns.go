// Package turns bounds how many things of a kind a server does at a time, for each caller and in all. It consumes
// requests for a turn with the name of the caller, and grants one when both bounds allow it, or refuses it after a while.
package turns

import (
	"context"
	"sync"
	"time"
)

// Turns are those of one kind. It is safe for concurrent use.
type Turns struct {
	each, all int

	mu    sync.Mutex
	held  map[string]int // by the caller's name
	total int
	freed chan struct{} // closed when a turn has ended
}

// New returns turns of which each caller has at most so many at a time, and all callers together.
func New(each, all int) *Turns {
	return &Turns{each: each, all: all, held: make(map[string]int), freed: make(chan struct{})}
}

// maxWait bounds how long Begin waits.
const maxWait = 10 * time.Second

// Begin waits for a turn, and reports whether it has come. Then End ends it.
func (t *Turns) Begin(ctx context.Context, who string) bool {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	for {
		t.mu.Lock()
		freed := t.freed
		free := t.total < t.all && t.held[who] < t.each
		if free {
			t.total++
			t.held[who]++
		}
		t.mu.Unlock()
		if free {
			return true
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return false
		}
	}
}

// End ends a turn of a caller.
func (t *Turns) End(who string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total--
	if t.held[who]--; t.held[who] == 0 {
		delete(t.held, who)
	}
	close(t.freed)
	t.freed = make(chan struct{})
}
