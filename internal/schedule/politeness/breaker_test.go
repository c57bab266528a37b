package politeness

import (
	"math"
	"testing"
	"time"
)

var breakerRules = Rules{
	Delay: time.Second, PerHost: 4,
	Breaker: Breaker{Failures: 3, Wait: time.Minute, MaxWait: 5 * time.Minute, Probes: 4},
}

// broken returns a host whose breaker has just opened.
func broken(t *testing.T) *host {
	h := newHost(t, breakerRules)
	wantEvent(t, h.asks(2, failure), NoEvent)
	wantEvent(t, h.ask(failure), Opened)
	return h
}

func TestBreakerOpens(t *testing.T) {
	t.Run("after failures in a row", func(t *testing.T) {
		h := broken(t)
		h.wantWait(time.Minute, BreakerOpen)
		h.wantLimit(1)
	})
	t.Run("not if an answer is between", func(t *testing.T) {
		for _, answer := range []Outcome{good, throttled} {
			h := newHost(t, breakerRules)
			h.asks(2, failure)
			h.ask(answer)
			wantEvent(t, h.asks(2, failure), NoEvent)
		}
	})
	t.Run("though what says nothing is between", func(t *testing.T) {
		h := newHost(t, breakerRules)
		h.asks(2, failure)
		h.ask(Outcome{})
		h.ask(Outcome{Kind: Unsent})
		wantEvent(t, h.ask(failure), Opened)
	})
	t.Run("not if it is off", func(t *testing.T) {
		h := newHost(t, Rules{Delay: time.Second})
		wantEvent(t, h.asks(100, failure), NoEvent)
		h.wantWait(time.Second, Delay)
	})
}

func TestAProbeInVainDoublesTheWait(t *testing.T) {
	h := broken(t)
	for _, want := range []struct {
		event   Event
		minutes time.Duration
	}{{ProbeFailed, 2}, {ProbeFailed, 4}, {ProbeFailed, 5}, {GaveUp, 5}, {GaveUp, 5}} {
		wantEvent(t, h.ask(failure), want.event)
		h.wantGivenUp(want.event == GaveUp)
		h.wantWait(want.minutes*time.Minute, BreakerOpen)
	}
}

func TestAnAnswerClosesTheBreaker(t *testing.T) {
	t.Run("a good one", func(t *testing.T) {
		h := broken(t)
		wantEvent(t, h.ask(good), Closed)
		h.wantWait(time.Second, Delay)
		wantEvent(t, h.asks(2, failure), NoEvent)
		wantEvent(t, h.ask(failure), Opened)
		h.wantWait(time.Minute, BreakerOpen)
	})
	t.Run("a refusal, which slows down", func(t *testing.T) {
		h := broken(t)
		wantEvent(t, h.ask(throttled), Closed)
		h.wantWait(2*time.Second, Backoff)
	})
	t.Run("of a host given up", func(t *testing.T) {
		h := broken(t)
		wantEvent(t, h.asks(4, failure), GaveUp)
		h.wantGivenUp(true)
		wantEvent(t, h.ask(good), Closed)
		h.wantGivenUp(false)
	})
	t.Run("of a request from before it opened", func(t *testing.T) {
		h := broken(t)
		wantEvent(t, h.end(good), Closed)
		h.wantWait(time.Second, Delay)
	})
}

func TestAProbeThatSaysNothingIsFollowedByAnother(t *testing.T) {
	for _, o := range []Outcome{{}, {Kind: Unsent}} {
		h := broken(t)
		h.ask(o)
		h.due()
		if left := h.now - monday; left > int64(2*time.Minute) {
			t.Errorf("the next probe goes after %v", time.Duration(left))
		}
		h.wantWait(0, BreakerOpen)
		h.wantLimit(1)
		wantEvent(t, h.ask(failure), ProbeFailed)
		h.wantWait(2*time.Minute, BreakerOpen)
	}
}

func TestRequestsUnderWayWhenTheBreakerOpenedAreNoProbes(t *testing.T) {
	h := newHost(t, breakerRules)
	h.rules.Delay, h.rules.PerHost = 0, 20
	h.wantLimit(20)
	h.begin(20)
	for range 2 {
		wantEvent(t, h.end(failure), NoEvent)
	}
	wantEvent(t, h.end(failure), Opened)
	h.wantLimit(1)
	h.sleep(20 * time.Second)
	for range 17 {
		wantEvent(t, h.end(failure), NoEvent)
	}
	h.wantWait(40*time.Second, BreakerOpen)
	wantEvent(t, h.ask(failure), ProbeFailed)
	h.wantWait(2*time.Minute, BreakerOpen)
}

func TestRetryAfterOutlivesABreakerThatCloses(t *testing.T) {
	h := newHost(t, breakerRules)
	h.begin(5)
	h.end(throttledFor(30 * time.Second))
	for range 3 {
		h.end(failure)
	}
	h.wantWait(time.Minute, BreakerOpen)
	h.end(good)
	h.wantWait(30*time.Second, RetryAfter)
}

func TestProbesWithoutLimitNeverGiveUp(t *testing.T) {
	h := newHost(t, Rules{Breaker: Breaker{Failures: 1, Wait: time.Second, MaxWait: time.Hour}})
	wantEvent(t, h.asks(100, failure), ProbeFailed)
	h.wantGivenUp(false)
	h.wantWait(time.Hour, BreakerOpen)
}

func TestWaitOfTheBreaker(t *testing.T) {
	for _, tt := range []struct {
		b      Breaker
		failed uint32
		want   time.Duration
	}{
		{Breaker{Wait: time.Minute, MaxWait: time.Hour}, 0, time.Minute},
		{Breaker{Wait: time.Minute, MaxWait: time.Hour}, 5, 32 * time.Minute},
		{Breaker{Wait: time.Minute, MaxWait: time.Hour}, 6, time.Hour},
		{Breaker{Wait: time.Minute, MaxWait: time.Hour}, math.MaxUint32, time.Hour},
		{Breaker{Wait: time.Minute}, 3, time.Minute}, // MaxWait below Wait
		{Breaker{Wait: -1, MaxWait: -1}, 3, 0},
		{Breaker{}, 100, 0},
		{Breaker{Wait: 1, MaxWait: math.MaxInt64}, 62, 1 << 62},
		{Breaker{Wait: 2, MaxWait: math.MaxInt64}, 62, math.MaxInt64},
	} {
		if got := tt.b.wait(tt.failed); got != tt.want {
			t.Errorf("%+v: after %d failed probes it waits %v, want %v", tt.b, tt.failed, got, tt.want)
		}
	}
}
