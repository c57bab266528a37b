// Package activity counts operations in progress, and signals when the last one ends.
package activity

import (
	"context"
	"sync"
	"time"
)

// Activity counts operations in progress. It is safe for concurrent use.
type Activity struct {
	mu      sync.Mutex
	busy    int
	quiet   time.Time     // since when nothing is in progress
	changed chan struct{} // closed at the next begin or end
}

// New returns an Activity with nothing in progress.
func New() *Activity { return &Activity{quiet: time.Now(), changed: make(chan struct{})} }

// Begin counts the start of an operation.
func (a *Activity) Begin() { a.add(1) }

// End counts the end of an operation.
func (a *Activity) End() { a.add(-1) }

func (a *Activity) add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy += n; a.busy == 0 {
		a.quiet = time.Now()
	}
	close(a.changed)
	a.changed = make(chan struct{})
}

// Busy returns the number of operations in progress.
func (a *Activity) Busy() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.busy
}

// state returns since when nothing has been in progress. If something is in progress, changed is
// closed at the next change.
func (a *Activity) state() (quiet time.Time, changed <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy > 0 {
		return time.Time{}, a.changed
	}
	return a.quiet, nil
}

// AwaitQuiet waits until nothing is in progress. If the context ends first, it returns its cause.
func (a *Activity) AwaitQuiet(ctx context.Context) error {
	for {
		_, changed := a.state()
		if changed == nil {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// QuietSince reports whether nothing has been in progress since t.
func (a *Activity) QuietSince(t time.Time) bool {
	quiet, changed := a.state()
	return changed == nil && !quiet.After(t)
}
