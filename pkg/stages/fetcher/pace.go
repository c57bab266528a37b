package fetcher

import (
	"context"
	"fmt"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/time/rate"
)

// pace holds requests and bytes back. The frontier decides when a host is due;
// the limiter of a host only guards against bursts that reach this process all
// the same, as after a lease moved.
type pace struct {
	requests  *rate.Limiter // nil is no limit
	bandwidth *rate.Limiter // nil is no limit
	hosts     *otter.Cache[string, *rate.Limiter]
}

// maxPacedHosts bounds the hosts whose last request is remembered, about
// 200 bytes each.
const maxPacedHosts = 1 << 16

// minBandwidthBurst lets one read of a body pass in one go.
const minBandwidthBurst = 64 << 10

func newPace(cfg Config) (*pace, error) {
	hosts, err := otter.New(&otter.Options[string, *rate.Limiter]{MaximumSize: maxPacedHosts})
	if err != nil {
		return nil, fmt.Errorf("make the cache of hosts: %w", err)
	}
	p := &pace{hosts: hosts}
	if cfg.Rate > 0 {
		p.requests = rate.NewLimiter(rate.Limit(cfg.Rate), max(1, int(cfg.Rate/20)))
	}
	if cfg.Bandwidth > 0 {
		p.bandwidth = rate.NewLimiter(rate.Limit(cfg.Bandwidth), max(minBandwidthBurst, int(cfg.Bandwidth/10)))
	}
	return p, nil
}

// request waits until a request may be sent to host.
func (p *pace) request(ctx context.Context, host string, delay time.Duration) error {
	if delay > 0 {
		if err := timed(waitHost, func() error { return p.limiter(host, delay).Wait(ctx) }); err != nil {
			return err
		}
	}
	if p.requests != nil {
		return timed(waitRate, func() error { return p.requests.Wait(ctx) })
	}
	return nil
}

func (p *pace) limiter(host string, delay time.Duration) *rate.Limiter {
	every := rate.Every(delay)
	l, _ := p.hosts.ComputeIfAbsent(host, func() (*rate.Limiter, bool) { return rate.NewLimiter(every, 1), false })
	if l.Limit() != every {
		l.SetLimit(every)
	}
	return l
}

// received waits until n more bytes may come.
func (p *pace) received(ctx context.Context, n int) error {
	for n > 0 {
		part := min(n, p.bandwidth.Burst())
		if err := timed(waitBandwidth, func() error { return p.bandwidth.WaitN(ctx, part) }); err != nil {
			return err
		}
		n -= part
	}
	return nil
}
