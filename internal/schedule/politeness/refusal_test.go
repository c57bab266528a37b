package politeness

import (
	"testing"
	"time"
)

func TestRefusal(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name    string
		rules   Rules
		outcome Outcome
		wait    time.Duration
		why     Phase
	}{
		{"waits a second at least", Rules{PerHost: 4}, throttled, s, Backoff},
		{"doubles the delay", Rules{Delay: 3 * s}, throttled, 6 * s, Backoff},
		{"waits an hour at most by itself", Rules{Delay: 50 * time.Minute}, throttled, time.Hour, Backoff},
		{"does not shorten a delay", Rules{Delay: 2 * time.Hour}, throttled, 2 * time.Hour, Delay},
		{"waits as long as the host asks", Rules{Delay: s}, throttledFor(2 * time.Hour), 2 * time.Hour, RetryAfter},
		{"waits no less than by itself", Rules{Delay: 3 * s}, throttledFor(s), 6 * s, Backoff},
		{"ignores a negative Retry-After", Rules{Delay: 3 * s}, throttledFor(-time.Hour), 6 * s, Backoff},
		{"waits a day at most", Rules{}, throttledFor(1000 * time.Hour), 24 * time.Hour, RetryAfter},
		{"waits as long as the rules allow at most", Rules{MaxRetryAfter: 48 * time.Hour}, throttledFor(1000 * time.Hour), 48 * time.Hour, RetryAfter},
		{"may come with a failure", Rules{Delay: s}, Outcome{Kind: HostFailure, RetryAfter: time.Hour}, time.Hour, RetryAfter},
		{"is not meant by Retry-After of a redirect", Rules{Delay: s}, Outcome{Kind: Good, RetryAfter: time.Hour}, s, Delay},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHost(t, tt.rules)
			h.ask(tt.outcome)
			h.wantWait(tt.wait, tt.why)
			h.wantLimit(1)
		})
	}
}

func TestRefusalsInARowDouble(t *testing.T) {
	h := newHost(t, Rules{Delay: time.Second})
	for _, want := range []time.Duration{2, 4, 8, 16, 32} {
		wantEvent(t, h.ask(throttled), Slowed)
		h.wantWait(want*time.Second, Backoff)
	}
	h.asks(20, throttled)
	h.wantWait(time.Hour, Backoff)
}

func TestRefusalOfRequestsUnderWayTogetherCountsOnce(t *testing.T) {
	h := newHost(t, Rules{PerHost: 8})
	h.begin(8)
	wantEvent(t, h.end(throttled), Slowed)
	for range 6 {
		wantEvent(t, h.end(throttled), NoEvent)
	}
	h.wantWait(time.Second, Backoff)
	h.end(throttledFor(time.Minute))
	h.wantWait(time.Minute, RetryAfter)
}

func TestAnswersUnderWayAtARefusalShortenNothing(t *testing.T) {
	h := newHost(t, Rules{PerHost: 100})
	h.begin(100)
	h.end(throttledFor(time.Minute))
	for range 99 {
		h.end(good)
	}
	h.wantWait(time.Minute, RetryAfter)
	h.ask(good)
	h.wantWait(time.Second, Backoff)
}

func TestRecovery(t *testing.T) {
	slowed := func(t *testing.T) *host {
		h := newHost(t, Rules{Delay: time.Second, PerHost: 4})
		h.asks(3, throttled) // 8 s
		return h
	}
	t.Run("takes a fifth off with every ten good answers", func(t *testing.T) {
		h := slowed(t)
		h.asks(9, good)
		h.wantWait(8*time.Second, Backoff)
		h.ask(good)
		h.wantWait(6400*time.Millisecond, Backoff)
		h.asks(10, good)
		h.wantWait(5120*time.Millisecond, Backoff)
	})
	t.Run("starts over with a failure", func(t *testing.T) {
		h := slowed(t)
		h.asks(9, good)
		h.ask(failure)
		h.asks(9, good)
		h.wantWait(8*time.Second, Backoff)
	})
	t.Run("does not start over with what says nothing", func(t *testing.T) {
		h := slowed(t)
		h.asks(9, good)
		h.ask(Outcome{})
		h.ask(Outcome{Kind: Unsent})
		h.ask(good)
		h.wantWait(6400*time.Millisecond, Backoff)
	})
	t.Run("ends at the ordinary delay", func(t *testing.T) {
		h := slowed(t)
		h.asks(99, good) // 8 s × 0.8^9 is 1.07 s
		if got := h.state.Delay(&h.rules); got <= time.Second {
			t.Errorf("the delay is %v already", got)
		}
		wantEvent(t, h.ask(good), Recovered)
		h.wantWait(time.Second, Delay)
	})
	t.Run("gives back the requests at once", func(t *testing.T) {
		h := newHost(t, Rules{PerHost: 4})
		h.ask(throttled)
		h.asks(100, good) // 0.107 s
		h.wantLimit(1)
		wantEvent(t, h.asks(10, good), Recovered)
		h.wantLimit(4)
		h.wantWait(0, Due)
	})
}
