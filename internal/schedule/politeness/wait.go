package politeness

import "time"

// Limit is how many requests may be in flight now; at least 1. Whether one may
// start now is for Earliest to say.
func (s *State) Limit(r *Rules) int {
	if s.Delay(r) > 0 || s.Open(r) {
		return 1
	}
	return max(1, r.PerHost)
}

// Delay is the time from the end of a response to the next request, without
// jitter.
func (s *State) Delay(r *Rules) time.Duration {
	return max(s.ordinary(r), min(s.slow, maxSlow))
}

// CrawlDelay is what robots.txt asks for; 0 if it asks for nothing.
func (s *State) CrawlDelay() time.Duration { return s.crawlDelay }

// Slowed is the least delay since the host refused; 0 if it did not recently.
func (s *State) Slowed() time.Duration { return min(s.slow, maxSlow) }

// Failures is how often the host has failed in a row.
func (s *State) Failures() int { return int(s.failures) }

// Earliest is the first moment, not before now, at which the next request may
// start. It must be asked again after Begin, End and a change of the rules, and
// when that moment has come, as the clock may have changed meanwhile.
func (s *State) Earliest(r *Rules, now int64) int64 {
	t, _ := s.waits(r, now)
	return t
}

// Phase is why the host waits.
func (s *State) Phase(r *Rules, now int64) Phase {
	if _, why := s.waits(r, now); why != Due {
		return why
	}
	if s.Open(r) {
		return BreakerOpen // its probe is due, or in flight
	}
	return Due
}

// Abandoned says that the breaker has probed as often as the rules allow, in
// vain. The host is still probed, so that a good answer can end that; see GaveUp.
func (s *State) Abandoned(r *Rules) bool {
	return s.Open(r) && r.Breaker.Probes > 0 && uint64(s.opened) > uint64(r.Breaker.Probes)
}

// Open is of the breaker, and includes a probe that is due or in flight.
func (s *State) Open(r *Rules) bool { return s.opened > 0 && r.Breaker.Failures > 0 }

func (s *State) ordinary(r *Rules) time.Duration { return r.ordinary(s.crawlDelay, s.smoothed) }

// waits is when the last of all waits ends, and which that is.
func (s *State) waits(r *Rules, now int64) (int64, Phase) {
	end, why := now, Due
	later := func(t int64, phase Phase) {
		if t > end {
			end, why = t, phase
		}
	}
	later(since(s.began, now, max(0, r.Interval)), Delay)
	later(since(s.ended, now, max(s.waitWithin(r), s.Delay(r))), s.why.phase())
	if s.Open(r) {
		later(since(s.ended, now, s.pauseWithin(r)), BreakerOpen)
	}
	later(r.opening(end), OutOfHours)
	return end, why
}

// since is d after a moment of the past, now if there was none. A moment that
// lies ahead counts as now.
func since(moment, now int64, d time.Duration) int64 {
	if moment == 0 {
		return now
	}
	return plus(min(moment, now), d)
}

// opening is t if it lies within Hours, else when they next begin.
func (r *Rules) opening(t int64) int64 {
	day := shift(t, r.Ahead)
	opens := r.Hours.Next(day)
	if opens == day {
		return t
	}
	return shift(opens, -r.Ahead)
}

// waitWithin is the wait, no longer than the rules allow now.
func (s *State) waitWithin(r *Rules) time.Duration {
	longest := r.mostJittered(s.Delay(r))
	if s.why == forRetryAfter {
		longest = max(longest, r.maxRetryAfter())
	}
	return min(s.wait, longest)
}

// pauseWithin is the pause of the breaker, no longer than the rules allow now.
func (s *State) pauseWithin(r *Rules) time.Duration {
	return min(s.pause, r.mostJittered(r.Breaker.longest()))
}

func (r reason) phase() Phase {
	switch r {
	case forBackoff:
		return Backoff
	case forRetryAfter:
		return RetryAfter
	default:
		return Delay
	}
}

// Probe lets the next request to a host whose breaker is open go at once,
// beside its ordinary delay.
func (s *State) Probe() { s.pause = 0 }
