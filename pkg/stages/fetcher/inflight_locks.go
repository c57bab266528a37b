package fetcher

import (
	"context"
	"fmt"
	"sync"
)

// inFlightLocks are the requests that this process is handling. A request may be redelivered
// meanwhile, for example to a process that was stalled. Then the first must have ended, and its
// result be stored, before the frontier can say whether the second is still wanted.
type inFlightLocks struct {
	mu   sync.Mutex
	busy map[string]chan struct{} // by identity; closed on unlock
}

// lock waits until no other goroutine handles the request, and returns the function that unlocks it.
func (l *inFlightLocks) lock(ctx context.Context, id string) (release func(), err error) {
	for {
		l.mu.Lock()
		other, taken := l.busy[id]
		if !taken {
			break
		}
		l.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the same request: %w", context.Cause(ctx))
		}
	}
	defer l.mu.Unlock()
	mine := make(chan struct{})
	if l.busy == nil {
		l.busy = make(map[string]chan struct{})
	}
	l.busy[id] = mine
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.busy, id)
		close(mine)
	}, nil
}
