package httpclient

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Requests that waited for the global rate limit leave it close together, and must not reach their
// host that way.
func TestHostRestsBehindTheRateOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := defaultConfig()
		cfg.Rate = 10
		p := newRateLimiter(cfg)
		p.requests.ReserveN(time.Now(), 1)
		for range 100 { // to other hosts, before these requests
			p.requests.ReserveN(time.Now(), 1)
		}
		a := Request{Spacing: time.Second}
		got := startsOf(t, p, "h.test", a, a, a)
		for i := range got[1:] {
			if gap := got[i+1] - got[i]; gap < time.Second {
				t.Errorf("requests started at %v", got)
			}
		}
	})
}

// A request that would be due after the delay of the previous one is not due under a longer delay.
func TestHostThatIsSlowedDownLaterRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newRateLimiter(defaultConfig())
		startsOf(t, p, "h.test", Request{Spacing: 100 * time.Millisecond})
		time.Sleep(time.Second)
		if got := startsOf(t, p, "h.test", Request{Spacing: 5 * time.Second})[0]; got != 4*time.Second {
			t.Errorf("started %s later, want 4s", got)
		}
	})
}

// A request that stops waiting has not used a turn.
func TestWaitingForAHostEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newRateLimiter(defaultConfig())
		startsOf(t, p, "h.test", Request{Spacing: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		ended := make(chan error, 3)
		for range cap(ended) {
			go func() { ended <- p.request(ctx, "h.test", time.Hour) }()
		}
		for range cap(ended) {
			if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("ended with %v", err)
			}
		}
		if got := startsOf(t, p, "h.test", Request{Spacing: time.Hour})[0]; got != 59*time.Minute {
			t.Errorf("the next starts %s later, want 59m", got)
		}
	})
}
