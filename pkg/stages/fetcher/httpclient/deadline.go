package httpclient

import (
	"context"
	"sync"
	"time"
)

// deadlineTimer ends an exchange when it, or one of its phases, takes too long. It uses one timer
// for all limits: a new phase only moves the due time, and a timer that fires early is set again.
type deadlineTimer struct {
	cancel context.CancelCauseFunc
	total  *Failure

	mu      sync.Mutex
	timer   *time.Timer
	armed   time.Time // when the timer fires
	end     time.Time // of the exchange
	due     time.Time // of the phase; zero if only the end counts
	why     *Failure  // failure of the phase
	stopped bool
	asleep  time.Time // since when the time is suspended; zero if it is not
}

// newDeadlineTimer calls cancel with total as the cause unless it is stopped within d.
func newDeadlineTimer(cancel context.CancelCauseFunc, d time.Duration, total *Failure) *deadlineTimer {
	w := &deadlineTimer{cancel: cancel, total: total, end: time.Now().Add(d)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = w.end
	w.timer = time.AfterFunc(d, w.fire)
	return w
}

// phase begins a phase that fails with why unless another begins within d.
func (t *deadlineTimer) phase(d time.Duration, why *Failure) {
	due := time.Now().Add(d)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.due, t.why = due, why
	if due.Before(t.armed) && !t.stopped {
		t.armed = due
		t.timer.Reset(d)
	}
}

// pause ends the phase: only the end of the exchange counts until the next phase.
func (t *deadlineTimer) pause() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.due = time.Time{}
}

// suspend stops all limits until resume, during waits that the host does not cause.
func (t *deadlineTimer) suspend() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asleep = time.Now()
}

// resume continues with the remaining time, without a phase.
func (t *deadlineTimer) resume() {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.end, t.due = t.end.Add(now.Sub(t.asleep)), time.Time{}
	t.asleep = time.Time{}
	if !t.stopped {
		t.armed = t.end
		t.timer.Reset(t.end.Sub(now))
	}
}

func (t *deadlineTimer) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	t.timer.Stop()
}

func (t *deadlineTimer) fire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	switch {
	case t.stopped, !t.asleep.IsZero():
	case !now.Before(t.end):
		t.cancel(t.total)
	case !t.due.IsZero() && !now.Before(t.due):
		t.cancel(t.why)
	default:
		t.armed = t.end
		if !t.due.IsZero() && t.due.Before(t.end) {
			t.armed = t.due
		}
		t.timer.Reset(t.armed.Sub(now))
	}
}
