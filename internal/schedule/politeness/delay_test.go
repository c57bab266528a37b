package politeness

import (
	"math"
	"testing"
	"time"
)

func TestAHostNeverAskedIsDue(t *testing.T) {
	h := newHost(t, Rules{Delay: time.Second, Interval: time.Minute, PerHost: 8})
	h.wantWait(0, Due)
	h.wantLimit(1)
}

func TestDelay(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name    string
		rules   Rules
		outcome Outcome
		wait    time.Duration
		limit   int
	}{
		{"is kept after an answer", Rules{Delay: s, PerHost: 4}, good, s, 1},
		{"is kept after a failure", Rules{Delay: s, PerHost: 4}, failure, s, 1},
		{"is kept after what says nothing", Rules{Delay: s, PerHost: 4}, Outcome{}, s, 1},
		{"is not kept where nothing was sent", Rules{Delay: s, PerHost: 4}, Outcome{Kind: Unsent}, 0, 1},
		{"may be none", Rules{PerHost: 4}, good, 0, 4},
		{"leaves one request where the rules name no number", Rules{}, good, 0, 1},
		{"is not negative", Rules{Delay: -s, PerHost: 4}, good, 0, 4},

		{"is the Crawl-delay if longer", Rules{Delay: s, MaxDelay: 60 * s, CrawlDelay: true}, goodWithCrawlDelay(10 * s), 10 * s, 1},
		{"is not the Crawl-delay if shorter", Rules{Delay: s, MaxDelay: 60 * s, CrawlDelay: true}, goodWithCrawlDelay(s / 2), s, 1},
		{"is the Crawl-delay alone", Rules{PerHost: 4, MaxDelay: 60 * s, CrawlDelay: true}, goodWithCrawlDelay(10 * s), 10 * s, 1},
		{"is not a Crawl-delay that is ignored", Rules{PerHost: 4, MaxDelay: 60 * s}, goodWithCrawlDelay(10 * s), 0, 4},
		{"is not a negative Crawl-delay", Rules{Delay: s, MaxDelay: 60 * s, CrawlDelay: true}, goodWithCrawlDelay(-10 * s), s, 1},
		{"is at most MaxDelay for Crawl-delay", Rules{Delay: s, MaxDelay: 60 * s, CrawlDelay: true}, goodWithCrawlDelay(time.Hour), 60 * s, 1},
		{"is not cut by MaxDelay", Rules{Delay: 90 * s, MaxDelay: 60 * s, CrawlDelay: true}, goodWithCrawlDelay(time.Hour), 90 * s, 1},
		{"is not added to with a MaxDelay of 0", Rules{Delay: s, CrawlDelay: true}, goodWithCrawlDelay(time.Hour), s, 1},

		{"grows with the response time", Rules{Delay: s, Factor: 3, MaxDelay: 60 * s}, goodIn(2 * s), 6 * s, 1},
		{"is at most MaxDelay for slow hosts", Rules{Delay: s, Factor: 1000, MaxDelay: 60 * s}, goodIn(2 * s), 60 * s, 1},
		{"does not grow without Factor", Rules{Delay: s, MaxDelay: 60 * s}, goodIn(30 * s), s, 1},
		{"does not come of Factor alone", Rules{PerHost: 4, Factor: 3, MaxDelay: 60 * s}, goodIn(2 * s), 0, 4},
		{"does not grow with the time of failures", Rules{Delay: s, Factor: 3, MaxDelay: 60 * s}, Outcome{Kind: HostFailure, Took: 30 * s}, s, 1},
		{"does not grow by what is no number", Rules{Delay: s, Factor: math.NaN(), MaxDelay: 60 * s}, goodIn(2 * s), s, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHost(t, tt.rules)
			h.ask(tt.outcome)
			why := Delay
			if tt.wait == 0 {
				why = Due
			}
			h.wantWait(tt.wait, why)
			h.wantLimit(tt.limit)
			h.due()
			h.wantWait(0, Due)
		})
	}
}

func TestCrawlDelayStaysUntilRobotsSaysOtherwise(t *testing.T) {
	h := newHost(t, Rules{Delay: time.Second, MaxDelay: time.Minute, CrawlDelay: true})
	h.ask(goodWithCrawlDelay(10 * time.Second))
	h.ask(good)
	h.wantWait(10*time.Second, Delay)
	h.ask(goodWithCrawlDelay(0))
	h.wantWait(time.Second, Delay)
	none := 5 * time.Second
	h.ask(Outcome{Kind: Unsent, CrawlDelay: &none})
	h.ask(good)
	h.wantWait(none, Delay)
}

// RFC 6298, section 2, with alpha 1/8.
func TestResponseTimeIsSmoothed(t *testing.T) {
	h := newHost(t, Rules{Delay: time.Millisecond})
	for _, step := range []struct{ took, smoothed time.Duration }{
		{800 * time.Millisecond, 800 * time.Millisecond},
		{0, 800 * time.Millisecond}, // unknown
		{1600 * time.Millisecond, 900 * time.Millisecond},
		{100 * time.Millisecond, 800 * time.Millisecond},
	} {
		h.ask(goodIn(step.took))
		if got := h.state.smoothed; got != step.smoothed {
			t.Errorf("after %v the smoothed response time is %v, want %v", step.took, got, step.smoothed)
		}
	}
}

func TestIntervalCountsFromStartToStart(t *testing.T) {
	h := newHost(t, Rules{Interval: 100 * time.Millisecond, PerHost: 4})
	h.begin(1)
	h.wantWait(100*time.Millisecond, Delay)
	h.wantLimit(4)
	h.sleep(30 * time.Millisecond)
	h.end(good)
	h.wantWait(70*time.Millisecond, Delay)
	h.due()
	h.begin(1)
	h.sleep(time.Second) // longer than the interval
	h.wantWait(0, Due)
}

func TestDelayCountsFromTheEndOfTheLastResponse(t *testing.T) {
	h := newHost(t, Rules{Delay: time.Second})
	h.begin(2)
	h.end(good)
	h.sleep(600 * time.Millisecond)
	h.end(good)
	h.wantWait(time.Second, Delay)
}

func TestDelayCountsFromTheEndOfAResponseThatIsToldLater(t *testing.T) {
	const late = 400 * time.Millisecond
	outcome := good
	outcome.Age = late
	t.Run("of one request", func(t *testing.T) {
		h := newHost(t, Rules{Delay: time.Second})
		h.begin(1)
		h.sleep(2 * time.Second)
		h.end(outcome)
		h.wantWait(time.Second-late, Delay)
	})
	t.Run("but never from before another one's end", func(t *testing.T) {
		h := newHost(t, Rules{Delay: time.Second})
		h.begin(2)
		h.sleep(2 * time.Second)
		h.end(good)
		h.end(outcome)
		h.wantWait(time.Second, Delay)
	})
	t.Run("nor from before a request began", func(t *testing.T) {
		h := newHost(t, Rules{Delay: time.Second})
		h.begin(1)
		h.sleep(late / 4)
		h.end(outcome)
		h.wantWait(time.Second-late/4, Delay)
	})
}

func TestJitterOnlyAdds(t *testing.T) {
	h := newHost(t, Rules{Delay: time.Second, Jitter: 0.5})
	lowest, highest := time.Hour, time.Duration(0)
	for seed := range uint64(1000) {
		var s State
		s.End(&h.rules, h.now, good, seed)
		wait := time.Duration(s.Earliest(&h.rules, h.now) - h.now)
		lowest, highest = min(lowest, wait), max(highest, wait)
	}
	if lowest < time.Second || lowest > 1010*time.Millisecond || highest < 1490*time.Millisecond || highest >= 1500*time.Millisecond {
		t.Errorf("waits are from %v to %v, want all of 1s to 1.5s", lowest, highest)
	}
}

func TestTheSameSeedGivesTheSameState(t *testing.T) {
	r := Rules{Delay: time.Second, Jitter: 1}
	var a, b, c State
	a.End(&r, monday, throttled, 1)
	b.End(&r, monday, throttled, 1)
	c.End(&r, monday, throttled, 2)
	if a != b || a == c {
		t.Errorf("seeds 1, 1, 2 gave %+v, %+v, %+v", a, b, c)
	}
}

func TestChangedRulesApplyAtOnce(t *testing.T) {
	for _, tt := range []struct {
		name          string
		before, after Rules
		outcome       Outcome
		wait          time.Duration
		why           Phase
	}{
		{"longer delay", Rules{Delay: time.Second}, Rules{Delay: time.Minute}, good, time.Minute, Delay},
		{"shorter delay", Rules{Delay: time.Minute}, Rules{Delay: time.Second}, good, time.Second, Delay},
		{"shorter cap for Retry-After", Rules{}, Rules{MaxRetryAfter: time.Minute}, throttledFor(time.Hour), time.Minute, RetryAfter},
		{"shorter wait of the breaker",
			Rules{Breaker: Breaker{Failures: 1, Wait: time.Hour}},
			Rules{Breaker: Breaker{Failures: 1, Wait: time.Minute}}, failure, time.Minute, BreakerOpen},
		{"breaker off", Rules{Breaker: Breaker{Failures: 1, Wait: time.Hour}}, Rules{}, failure, 0, Due},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHost(t, tt.before)
			h.ask(tt.outcome)
			h.rules = tt.after
			h.wantWait(tt.wait, tt.why)
		})
	}
}

func TestAWaitThatTheRulesCutDoesNotComeBack(t *testing.T) {
	t.Run("by the cap of the time", func(t *testing.T) {
		h := newHost(t, Rules{Delay: time.Second})
		h.ask(throttledFor(1000 * time.Hour))
		h.ask(good)
		h.wantWait(2*time.Second, Backoff)
	})
	t.Run("by a cap that was lowered", func(t *testing.T) {
		h := newHost(t, Rules{Delay: time.Second})
		h.ask(throttledFor(24 * time.Hour))
		h.rules.MaxRetryAfter = time.Hour
		h.wantWait(time.Hour, RetryAfter)
		h.ask(good)
		h.wantWait(2*time.Second, Backoff)
	})
	t.Run("by a breaker that waits no more than a minute now", func(t *testing.T) {
		h := newHost(t, Rules{Breaker: Breaker{Failures: 1, Wait: time.Hour}})
		h.ask(failure)
		h.rules.Breaker.Wait = time.Minute
		h.wantWait(time.Minute, BreakerOpen)
		h.ask(Outcome{})
		h.wantWait(0, BreakerOpen)
	})
}

// The clock never goes back, but a stored time may be from another machine's clock.
func TestTimesAheadOfTheClockCountAsNow(t *testing.T) {
	const year = 365 * 24 * time.Hour
	r := Rules{Delay: time.Second, Interval: time.Second}
	for _, ahead := range []time.Duration{time.Nanosecond, time.Second, time.Hour, 10 * year} {
		h := newHost(t, r)
		h.ask(throttledFor(time.Hour))
		h.sleep(-ahead)
		h.wantWait(time.Hour, RetryAfter) // not earlier because of that
		h.state.Bound(h.now)
		h.sleep(time.Hour - 1)
		h.wantWait(1, RetryAfter)
		h.sleep(1)
		h.wantWait(0, Due) // and not later
	}
	h := newHost(t, r)
	h.ask(throttledFor(time.Hour))
	h.begin(1)
	h.sleep(-30 * time.Second)
	h.end(good)
	h.wantWait(time.Hour, RetryAfter) // is not prolonged
}

func TestHoursGoByTheTimeOfDay(t *testing.T) {
	for _, ahead := range []time.Duration{0, 3 * time.Hour, -30 * time.Hour, 400 * 24 * time.Hour} {
		h := newHost(t, Rules{Hours: hours(t, "", "22:00-06:00"), Ahead: ahead})
		h.sleep(5*time.Hour - ahead)
		h.wantWait(0, Due)
		h.sleep(2 * time.Hour)
		h.wantWait(15*time.Hour, OutOfHours)
	}
}
