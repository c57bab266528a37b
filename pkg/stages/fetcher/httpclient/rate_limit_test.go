package httpclient

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// startsOf returns the start times of requests to a host that arrive at the same time.
func startsOf(t *testing.T, p *rateLimiter, host string, asks ...Request) []time.Duration {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	var at []time.Duration
	began := time.Now()
	for _, a := range asks {
		wg.Go(func() {
			if err := p.request(t.Context(), host, a.Spacing); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			at = append(at, time.Since(began).Round(time.Millisecond))
		})
	}
	wg.Wait()
	slices.Sort(at)
	return at
}

func TestPaceOfAHost(t *testing.T) {
	const ms = time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		p := newRateLimiter(defaultConfig())
		for host, c := range map[string]struct {
			ask  Request
			want []time.Duration
		}{
			"neither.test": {Request{}, []time.Duration{0, 0, 0}},
			"short.test":   {Request{Spacing: 30 * ms}, []time.Duration{0, 30 * ms, 60 * ms}},
			"long.test":    {Request{Spacing: time.Hour}, []time.Duration{0, time.Hour, 2 * time.Hour}},
		} {
			if got := startsOf(t, p, host, c.ask, c.ask, c.ask); !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", host, got, c.want)
			}
		}
		// The limit holds from one call to the next, and for each host separately.
		a := Request{Spacing: time.Second}
		startsOf(t, p, "a.test", a)
		time.Sleep(400 * ms)
		if got := startsOf(t, p, "b.test", a); got[0] != 0 {
			t.Errorf("another host: %v", got)
		}
		if got := startsOf(t, p, "a.test", a); got[0] != 600*ms {
			t.Errorf("the same host: %v", got)
		}
		// The delay of the coming request counts, not that of the last one.
		time.Sleep(time.Second)
		startsOf(t, p, "a.test", Request{Spacing: ms})
		if got := startsOf(t, p, "a.test", a); got[0] != time.Second {
			t.Errorf("a host that was slowed down: %v", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*ms)
		defer cancel()
		if err := p.request(ctx, "a.test", time.Second); err == nil {
			t.Error("a request that cannot be in time is sent")
		}
	})
}
