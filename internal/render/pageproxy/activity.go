package pageproxy

import (
	"context"
	"sync"
	"time"

	"seine/internal/base/sleep"
)

// activity tells whether requests are under way. WebSockets and event streams count until they are open.
type activity struct {
	mu      sync.Mutex
	busy    int
	quiet   time.Time     // since when none is
	changed chan struct{} // closed at the next begin or end
}

func newActivity() activity { return activity{quiet: time.Now(), changed: make(chan struct{})} }

func (a *activity) begin() { a.add(1) }
func (a *activity) end()   { a.add(-1) }

func (a *activity) add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy += n; a.busy == 0 {
		a.quiet = time.Now()
	}
	close(a.changed)
	a.changed = make(chan struct{})
}

// idleIn returns how long nothing may begin until there was nothing for d since a time; while requests are under way, it is not
// known, and changed tells when to ask again.
func (a *activity) idleIn(d time.Duration, since time.Time) (wait time.Duration, changed <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy > 0 {
		return 0, a.changed
	}
	if a.quiet.After(since) {
		since = a.quiet
	}
	return max(0, d-time.Since(since)), nil
}

// AwaitIdle waits until from now on no request of the visit has been under way for d, beside WebSockets and event streams that
// are open. Without a visit it does not wait.
func (p *Proxy) AwaitIdle(ctx context.Context, d time.Duration) error {
	p.mu.Lock()
	v := p.current
	p.mu.Unlock()
	if v == nil {
		return nil
	}
	for began := time.Now(); ; {
		wait, changed := v.activity.idleIn(d, began)
		switch {
		case changed != nil:
			select {
			case <-changed:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		case wait == 0:
			return nil
		default:
			if err := sleep.For(ctx, wait); err != nil {
				return err
			}
		}
	}
}
