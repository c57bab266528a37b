package httpclient

import (
	"context"
	"sync"
	"time"
)

// deadlineTimer ends an exchange when one of its phases takes too long, or all of it.
// It needs one timer for all: a phase that begins only moves the due time, and
// a timer that fires early is set again.
type deadlineTimer struct {
	cancel context.CancelCauseFunc
	total  *Failure

	mu      sync.Mutex
	timer   *time.Timer
	armed   time.Time // when the timer fires
	end     time.Time // of the exchange
	due     time.Time // of the phase; zero if only the end counts
	why     *Failure  // the phase failed
	stopped bool
	asleep  time.Time // since when nothing counts; zero if it does
}

// newDeadlineTimer cancels with total as the cause unless it is stopped within d.
func newDeadlineTimer(cancel context.CancelCauseFunc, d time.Duration, total *Failure) *deadlineTimer {
	w := &deadlineTimer{cancel: cancel, total: total, end: time.Now().Add(d)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = w.end
	w.timer = time.AfterFunc(d, w.fire)
	return w
}

// phase begins a phase that fails with why unless another begins within d.
func (w *deadlineTimer) phase(d time.Duration, why *Failure) {
	due := time.Now().Add(d)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due, w.why = due, why
	if due.Before(w.armed) && !w.stopped {
		w.armed = due
		w.timer.Reset(d)
	}
}

// pause lets only the end of the exchange count, until the next phase.
func (w *deadlineTimer) pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due = time.Time{}
}

// suspend lets nothing count until resume: what is waited for is not the host's
// doing.
func (w *deadlineTimer) suspend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asleep = time.Now()
}

// resume goes on with as much time as there was, in no phase.
func (w *deadlineTimer) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.end, w.due = w.end.Add(now.Sub(w.asleep)), time.Time{}
	w.asleep = time.Time{}
	if !w.stopped {
		w.armed = w.end
		w.timer.Reset(w.end.Sub(now))
	}
}

func (w *deadlineTimer) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
}

func (w *deadlineTimer) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	switch {
	case w.stopped, !w.asleep.IsZero():
	case !now.Before(w.end):
		w.cancel(w.total)
	case !w.due.IsZero() && !now.Before(w.due):
		w.cancel(w.why)
	default:
		w.armed = w.end
		if !w.due.IsZero() && w.due.Before(w.end) {
			w.armed = w.due
		}
		w.timer.Reset(w.armed.Sub(now))
	}
}
