package politeness

import (
	"math"
	"time"
)

const (
	minSlow     = time.Second            // minimum slowdown after a refusal
	maxSlow     = time.Hour              // maximum slowdown, unless Retry-After is longer
	trivialSlow = 100 * time.Millisecond // a slowdown below this ends
	goodRow     = 10                     // good responses in a row that reduce the slowdown once
	refusedRow  = 5                      // number of URLs refused in a row from which on the host slows down
	maxRefused  = time.Minute            // maximum slowdown for refused URLs
)

// State is the state of a host. The zero value is a host without any requests.
type State struct {
	began int64         // start of the last request; 0 if none
	ended int64         // end of the last response, from which wait and pause count; 0 if none
	wait  time.Duration // no request before its end, for the reason why
	pause time.Duration // no probe before its end

	smoothed   time.Duration // mean response time
	crawlDelay time.Duration // of robots.txt
	slow       time.Duration // minimum delay after a refusal

	failures uint32 // of the host, in a row
	opened   uint32 // how often the breaker has opened in a row; 0 means closed
	good     uint8  // good responses in a row since slow last changed, below goodRow
	why      reason
	refused  uint8 // URLs refused in a row, up to refusedRow
	// asked reports whether a request began since the host was last found to refuse or fail. From
	// then on only one is in flight, so all that end before the next begins were in flight before.
	asked bool
}

// reason is the Phase of a State's wait.
type reason uint8

const (
	forDelay reason = iota
	forBackoff
	forRetryAfter
)

// Begin records the start of a request.
func (s *State) Begin(_ *Rules, now int64) {
	s.began = now
	s.asked = true
}

// End records that a request has ended by now, o.Age ago. The seed determines the jitter. It should
// differ from request to request; the same seed gives the same State.
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

// Bound replaces future times by now. Their waits then begin again only once, instead of at every
// call.
func (s *State) Bound(now int64) {
	s.began, s.ended = min(s.began, now), min(s.ended, now)
}

// rebase makes the remaining waits count from now.
func (s *State) rebase(r *Rules, now int64) {
	left := func(d time.Duration) time.Duration {
		return max(0, min(d, time.Duration(since(s.ended, now, d)-now))) // min: the difference may overflow
	}
	s.wait, s.pause = left(s.waitWithin(r)), left(s.pauseWithin(r))
	s.ended = now
}

// applyOutcome updates the state by an outcome.
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

// answered ends a row of failures and closes the breaker.
func (s *State) answered(event Event) Event {
	s.failures = 0
	if s.opened > 0 {
		s.opened, s.pause = 0, 0
		return Closed
	}
	return event
}

// ease reduces the slowdown with every goodRow good responses. Responses to requests that were in
// flight at the refusal do not count, as they say nothing about the new pace.
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

// slowDown doubles the delay, once for all requests that were in flight together, as TCP does for
// the losses of one window (RFC 6582).
func (s *State) slowDown(r *Rules) Event {
	s.good = 0
	if s.slow > 0 && !s.asked {
		return NoEvent
	}
	s.asked = false
	s.slow = min(maxSlow, max(minSlow, times(max(s.slow, s.ordinary(r)), 2)))
	return Slowed
}

// refuse slows the host down after refusedRow refused URLs in a row, like a temporary refusal but
// up to maxRefused. Many sites have a closed section that all their other pages link to.
func (s *State) refuse(r *Rules) Event {
	s.refused = min(s.refused+1, refusedRow)
	if s.refused < refusedRow || s.slow >= maxRefused {
		return NoEvent
	}
	event := s.slowDown(r)
	s.slow = min(s.slow, maxRefused)
	return event
}

// failed opens the breaker after enough failures, and keeps it open after a failed probe.
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

// setWait sets the wait of the host, unless the current wait is longer.
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

// Failing reports whether the host failed at its last request.
func (s *State) Failing() bool { return s.failures > 0 }

// Forgettable reports whether an idle host can be treated as one without any requests. Either it
// did not refuse or fail, asks for no delay, and has been idle for longer than ForgetAfter and its
// wait. Or it has been idle for longer than any wait that a host can ask for or a spec can set.
func (s *State) Forgettable(now int64) bool { return now > s.forgetAt() }

// ForgetAt returns the time after which the host is forgettable if it gets no request before, 0
// while a request is in flight.
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

// ForgetAfter is how long a host is remembered after a request.
const ForgetAfter = maxSlow

// forgetSurely is how long a host is remembered that has refused, failed, or asked for a delay.
// Retry-After, the delays of specs and their breakers are at most a day, with jitter twice that.
const forgetSurely = 50 * time.Hour
