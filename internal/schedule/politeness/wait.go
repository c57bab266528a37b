package politeness

import "time"

// Limit returns how many requests may be in flight now; at least 1. Earliest decides whether one
// may start now.
func (s *State) Limit(r *Rules) int {
	if s.Delay(r) > 0 || s.Open(r) {
		return 1
	}
	return max(1, r.PerHost)
}

// Delay returns the time from the end of a response to the next request, without jitter.
func (s *State) Delay(r *Rules) time.Duration {
	return max(s.ordinary(r), min(s.slow, maxSlow))
}

// CrawlDelay returns the Crawl-delay of robots.txt, 0 if none.
func (s *State) CrawlDelay() time.Duration { return s.crawlDelay }

// Slowed returns the minimum delay after a recent refusal, 0 if none.
func (s *State) Slowed() time.Duration { return min(s.slow, maxSlow) }

// Failures returns the number of failures in a row.
func (s *State) Failures() int { return int(s.failures) }

// Earliest returns the first time, not before now, at which the next request may start. Call it
// again after Begin, End and a change of the rules, and when that time has come, as the clock may
// have changed meanwhile.
func (s *State) Earliest(r *Rules, now int64) int64 {
	t, _ := s.waits(r, now)
	return t
}

// Phase returns why the host waits.
func (s *State) Phase(r *Rules, now int64) Phase {
	if _, why := s.waits(r, now); why != Due {
		return why
	}
	if s.Open(r) {
		return BreakerOpen // its probe is due, or in flight
	}
	return Due
}

// Abandoned reports whether the breaker has probed as often as the rules allow, without success.
// The host still gets probes, so that a good response can end that; see GaveUp.
func (s *State) Abandoned(r *Rules) bool {
	return s.Open(r) && r.Breaker.Probes > 0 && uint64(s.opened) > uint64(r.Breaker.Probes)
}

// Open reports whether the breaker is open, which includes a probe that is due or in flight.
func (s *State) Open(r *Rules) bool { return s.opened > 0 && r.Breaker.Failures > 0 }

func (s *State) ordinary(r *Rules) time.Duration { return r.ordinary(s.crawlDelay, s.smoothed) }

// waits returns when the last wait ends, and the reason for it.
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

// since returns the time d after a past moment, or now if moment is 0. A future moment counts as
// now.
func since(moment, now int64, d time.Duration) int64 {
	if moment == 0 {
		return now
	}
	return plus(min(moment, now), d)
}

// opening returns t if it lies within Hours, else when they next begin.
func (r *Rules) opening(t int64) int64 {
	day := shift(t, r.Ahead)
	opens := r.Hours.Next(day)
	if opens == day {
		return t
	}
	return shift(opens, -r.Ahead)
}

// waitWithin returns the wait, limited by the current rules.
func (s *State) waitWithin(r *Rules) time.Duration {
	longest := r.mostJittered(s.Delay(r))
	if s.why == forRetryAfter {
		longest = max(longest, r.maxRetryAfter())
	}
	return min(s.wait, longest)
}

// pauseWithin returns the pause of the breaker, limited by the current rules.
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

// Probe allows a request to a host with an open breaker at once, apart from its ordinary delay.
func (s *State) Probe() { s.pause = 0 }
