package politeness

import (
	"math"
	"time"
)

const (
	minSlow     = time.Second            // the least slowdown after a refusal
	maxSlow     = time.Hour              // the most, unless Retry-After asks for more
	trivialSlow = 100 * time.Millisecond // a slowdown below this is over
	goodRow     = 10                     // good answers in a row that ease it once
	refusedRow  = 5                      // URLs refused in a row from which on the host slows down
	maxRefused  = time.Minute            // the most that this makes of the slowdown
)

// State is what is known of a host. The zero value is a host never asked.
type State struct {
	began int64         // start of the last request; 0 if there was none
	ended int64         // end of the last response, from which wait and pause count; 0 if there was none
	wait  time.Duration // no request sooner, for the reason why
	pause time.Duration // no probe sooner

	smoothed   time.Duration // response time
	crawlDelay time.Duration // of robots.txt
	slow       time.Duration // least delay, since the host refused

	failures uint32 // of the host, in a row
	opened   uint32 // how often the breaker has, in a row; 0 is closed
	good     uint8  // answers in a row since slow last changed, below goodRow
	why      reason
	refused  uint8 // URLs in a row, up to refusedRow
	// asked says that a request began since the host was last found to refuse
	// or fail. From then on one is in progress at once, so that all that end
	// before the next begins were in flight before.
	asked bool
}

// reason is the Phase of a State's wait.
type reason uint8

const (
	forDelay reason = iota
	forBackoff
	forRetryAfter
)

// Begin records that a request is sent.
func (s *State) Begin(_ *Rules, now int64) {
	s.began = now
	s.asked = true
}

// End records that a request has ended by now, o.Age ago. The seed chooses the jitter;
// it should differ from request to request, but the same gives the same State.
func (s *State) End(r *Rules, now int64, o Outcome, seed uint64) Event {
	if o.CrawlDelay != nil {
		s.crawlDelay = max(0, *o.CrawlDelay)
	}
	if o.Kind == Unsent {
		return NoEvent
	}
	s.rebase(r, min(now, max(now-int64(o.Age), s.began, s.ended)))
	event := s.applyOutcome(r, o, seed)
	s.setWait(r, o, seed)
	return event
}

// Bound takes times that lie ahead of the clock for now: the waits after them
// begin again once, instead of whenever they are looked at.
func (s *State) Bound(now int64) {
	s.began, s.ended = min(s.began, now), min(s.ended, now)
}

// rebase counts what is left of the waits from now.
func (s *State) rebase(r *Rules, now int64) {
	left := func(d time.Duration) time.Duration {
		return max(0, min(d, time.Duration(since(s.ended, now, d)-now))) // min: the difference may overflow
	}
	s.wait, s.pause = left(s.waitWithin(r)), left(s.pauseWithin(r))
	s.ended = now
}

// applyOutcome learns from an outcome how the host is.
func (s *State) applyOutcome(r *Rules, o Outcome, seed uint64) Event {
	switch o.Kind {
	case Good:
		s.refused = 0
		s.smoothed = smooth(s.smoothed, o.Took)
		return s.answered(s.ease(r))
	case Throttled:
		return s.answered(s.slowDown(r))
	case Refused:
		return s.answered(s.refuse(r))
	case HostFailure:
		return s.failed(r, seed)
	case Neutral, Unsent, Abandoned:
	}
	return NoEvent
}

// smooth returns the mean response time: RFC 6298, section 2, with alpha 1/8.
func smooth(mean, took time.Duration) time.Duration {
	switch {
	case took <= 0:
		return mean
	case mean == 0:
		return took
	}
	return mean + (took-mean)/8
}

// answered ends a row of failures, and closes the breaker.
func (s *State) answered(event Event) Event {
	s.failures = 0
	if s.opened > 0 {
		s.opened, s.pause = 0, 0
		return Closed
	}
	return event
}

// ease lets the slowdown fall with every goodRow good answers. Those of
// requests that were in flight at the refusal say nothing of the new pace.
func (s *State) ease(r *Rules) Event {
	if s.slow == 0 || !s.asked {
		return NoEvent
	}
	if s.good++; s.good < goodRow {
		return NoEvent
	}
	s.good = 0
	s.slow = s.slow / 5 * 4
	if s.slow >= trivialSlow && s.slow > s.ordinary(r) {
		return NoEvent
	}
	s.slow = 0
	return Recovered
}

// slowDown doubles the delay: once for all requests that were in flight
// together, as TCP does for the losses of one window (RFC 6582).
func (s *State) slowDown(r *Rules) Event {
	s.good = 0
	if s.slow > 0 && !s.asked {
		return NoEvent
	}
	s.asked = false
	s.slow = min(maxSlow, max(minSlow, times(max(s.slow, s.ordinary(r)), 2)))
	return Slowed
}

// refuse slows the host down, as a refusal for now does but no further than maxRefused,
// when it has refused URL after URL: many sites have a part that is closed, and links to
// it from all others.
func (s *State) refuse(r *Rules) Event {
	s.refused = min(s.refused+1, refusedRow)
	if s.refused < refusedRow || s.slow >= maxRefused {
		return NoEvent
	}
	event := s.slowDown(r)
	s.slow = min(s.slow, maxRefused)
	return event
}

// failed opens the breaker after enough failures, and keeps it open after a
// probe in vain.
func (s *State) failed(r *Rules, seed uint64) Event {
	s.good = 0
	s.failures = increment(s.failures)
	b := &r.Breaker
	switch {
	case b.Failures <= 0:
		s.opened, s.pause = 0, 0
		return NoEvent
	case s.opened == 0 && uint64(s.failures) < uint64(b.Failures), s.opened > 0 && !s.asked:
		return NoEvent
	}
	s.asked = false
	s.pause = r.jittered(b.wait(s.opened), seed)
	s.opened = increment(s.opened)
	switch {
	case s.opened == 1:
		return Opened
	case s.Abandoned(r):
		return GaveUp
	default:
		return ProbeFailed
	}
}

func increment(n uint32) uint32 { return n + min(1, math.MaxUint32-n) }

// setWait sets how long the host is left alone, unless it is for longer already.
func (s *State) setWait(r *Rules, o Outcome, seed uint64) {
	d, why := r.jittered(s.Delay(r), seed), forDelay
	if s.slow > s.ordinary(r) {
		why = forBackoff
	}
	if o.Kind == Throttled || o.Kind == HostFailure || o.Kind == Abandoned {
		if asked := min(o.RetryAfter, r.maxRetryAfter()); asked > d {
			d, why = asked, forRetryAfter
		}
	}
	if d >= s.wait {
		s.wait, s.why = d, why
	}
}

// Failing reports whether the host failed when it was last asked.
func (s *State) Failing() bool { return s.failures > 0 }

// Forgettable reports whether a host that is not asked now can be treated as one that
// never was: it did not refuse or fail, asks for no delay, and was left
// alone for longer than any delay lasts that it did not ask for; or it was left alone for
// longer than anything lasts that a host can ask for, or a spec say.
func (s *State) Forgettable(now int64) bool { return now > s.forgetAt() }

// ForgetAt is after when the host is forgettable if it is not asked before; 0 while it is being asked.
func (s *State) ForgetAt() int64 {
	if s.began > s.ended {
		return 0
	}
	return s.forgetAt()
}

func (s *State) forgetAt() int64 {
	alone := max(ForgetAfter, s.wait)
	if plain := s.failures == 0 && s.opened == 0 && s.slow == 0 && s.crawlDelay == 0; !plain {
		alone = max(alone, forgetSurely)
	}
	return max(s.began, s.ended) + int64(alone)
}

// ForgetAfter is for how long a host that was asked is not forgotten.
const ForgetAfter = maxSlow

// forgetSurely is for how long one is not that has refused, failed, or asked for a delay:
// Retry-After, the delays of specs and their breakers are at most a day, jitter twice that.
const forgetSurely = 50 * time.Hour
