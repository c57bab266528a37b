package httpclient

import (
	"context"
	"time"

	"golang.org/x/time/rate"

	"seine/internal/base/recent"
	"seine/internal/base/sleep"
)

// rateLimiter limits the rates of requests and bytes. The frontier decides when a host is due; the
// starts of a host only guard against bursts that reach this process nevertheless, such as after a
// lease moved.
type rateLimiter struct {
	requests  *rate.Limiter // nil for no limit
	bandwidth *rate.Limiter // nil for no limit
	hosts     recent.Cache[string, *starts]
}

// maxPacedHosts bounds the hosts whose last request is remembered, about 250 bytes each.
const maxPacedHosts = 1 << 15

// minBandwidthBurst allows one whole read of a body at once.
const minBandwidthBurst = 64 << 10

func newRateLimiter(cfg Config) *rateLimiter {
	p := &rateLimiter{hosts: recent.Cache[string, *starts]{Most: maxPacedHosts}}
	if cfg.Rate > 0 {
		p.requests = rate.NewLimiter(rate.Limit(cfg.Rate), max(1, int(cfg.Rate/20)))
	}
	if cfg.Bandwidth > 0 {
		p.bandwidth = rate.NewLimiter(rate.Limit(cfg.Bandwidth), max(minBandwidthBurst, int(cfg.Bandwidth/10)))
	}
	return p
}

// request waits until a request may be sent to host, rest after the start of the previous one. The
// host's wait comes last: requests could bunch up again in any wait after it.
func (l *rateLimiter) request(ctx context.Context, host string, rest time.Duration) error {
	if l.requests != nil {
		if err := Timed(waitRate, func() error { return l.requests.Wait(ctx) }); err != nil {
			return err
		}
	}
	if rest <= 0 {
		return nil
	}
	s := l.hosts.GetOrPut(host, newStarts)
	return Timed(waitHost, func() error { return s.next(ctx, rest) })
}

// starts spaces the starts of requests to a host. A limiter of x/time/rate does not: its token
// depends on the interval of the previous request, which may have been of another crawl, or before
// the host was slowed down.
type starts struct {
	turn chan struct{} // full while one caller waits for its start, and others wait for it
	last time.Time
}

func newStarts() *starts { return &starts{turn: make(chan struct{}, 1)} }

// next waits until rest after the last start, in the order of the calls. It returns an error only
// if ctx is done; then it counts no start.
func (s *starts) next(ctx context.Context, rest time.Duration) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.turn }()
	if wait := time.Until(s.last.Add(rest)); wait > 0 {
		if err := sleep.For(ctx, wait); err != nil {
			return err
		}
	}
	s.last = time.Now()
	return nil
}

// received waits until n more bytes are allowed.
func (l *rateLimiter) received(ctx context.Context, n int) error {
	for n > 0 {
		part := min(n, l.bandwidth.Burst())
		if err := Timed(waitBandwidth, func() error { return l.bandwidth.WaitN(ctx, part) }); err != nil {
			return err
		}
		n -= part
	}
	return nil
}
