package pageproxy

import (
	"context"
	"sync"
	"time"
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

// state tells since when nothing has been under way; while something is, changed tells when to ask again.
func (a *activity) state() (quiet time.Time, changed <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy > 0 {
		return time.Time{}, a.changed
	}
	return a.quiet, nil
}

// AwaitQuiet waits until no request of the visit is under way, beside WebSockets and event streams that are open. Without a visit
// it does not wait.
func (p *Proxy) AwaitQuiet(ctx context.Context) error {
	for {
		v := p.visiting()
		if v == nil {
			return nil
		}
		_, changed := v.activity.state()
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

// QuietSince reports whether no request of the visit has been under way since a time. Without a visit there was none.
func (p *Proxy) QuietSince(t time.Time) bool {
	v := p.visiting()
	if v == nil {
		return true
	}
	quiet, changed := v.activity.state()
	return changed == nil && !quiet.After(t)
}

// visiting returns the visit that goes on, nil if none does.
func (p *Proxy) visiting() *visit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}
