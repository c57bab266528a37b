package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"seine/internal/base/sleep"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
)

func header() {
	fmt.Println("| hosts | delay | fetchers | frontier | requests/s | of ideal | worst 10 s | smallest gap | violations | overhead p50/p90/p99/max ms |")
	fmt.Println("|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|")
}

// efficiency measures one run, and returns how many gaps were too short.
func efficiency(ctx context.Context, o options, bin, work string) (int, error) {
	lasts := o.Warmup + o.Window
	web, server, err := startWeb(o, lasts)
	if err != nil {
		return 0, err
	}
	defer func() { _ = server.Close() }()
	c, err := startCluster(o, bin, work)
	if err != nil {
		return 0, err
	}
	closed := false
	defer func() {
		if !closed {
			c.close()
		}
	}()
	if err := c.join(ctx); err != nil {
		return 0, err
	}
	var t *tracer
	if o.Trace {
		if t, err = startTracer(c.bus.NC); err != nil {
			return 0, err
		}
	}
	if err := c.feed(ctx, spec(o), server, o.Hosts); err != nil {
		return 0, err
	}
	if err := sleep.For(ctx, o.Warmup); err != nil {
		return 0, err
	}
	from := time.Now()
	if o.Kill {
		if err := sleep.For(ctx, o.Window/2); err != nil {
			return 0, err
		}
		c.frontier.kill()
		if err := c.frontier.start(); err != nil {
			return 0, err
		}
	}
	if err := sleep.For(ctx, o.Window-time.Since(from)); err != nil {
		return 0, err
	}
	to := from.Add(o.Window)
	load, _ := os.ReadFile("/proc/loadavg")
	c.close()
	closed = true

	byHost := perHost(web.Requests())
	violations, smallest := 0, time.Duration(1<<62)
	for h := range byHost {
		n, gap := tooClose(byHost[h], o.Delay, from)
		violations += n
		smallest = min(smallest, gap)
	}
	figures := measure(web.Requests(), byHost, o, from, to)
	frontier := "undisturbed"
	if o.Kill {
		frontier = "killed midway"
	}
	fmt.Printf("| %d | %v | %d | %s | %.1f | %.1f %% | %.1f %% | %.4f s | %d | %s |\n", o.Hosts, o.Delay, o.Fetchers, frontier,
		figures.rate, 100*figures.share, 100*figures.worst, smallest.Seconds(), violations, figures.overhead)
	fmt.Fprintf(os.Stderr, "CPU over all: %s; load before the end %s\n", c.cpu(), strings.TrimSpace(string(load)))
	if t != nil {
		t.report(os.Stderr, byHost, from, to, o.Delay)
	}
	return violations, nil
}

func startWeb(o options, lasts time.Duration) (*testweb.Web, *testweb.Server, error) {
	web := testweb.New(testweb.Config{
		Hosts: o.Hosts, PageBytes: o.PageSize, Latency: o.Latency, LinksPerPage: 10,
		PagesPerHost: int(lasts/o.Delay) + 20, LogLimit: 10_000_000,
	})
	s, err := web.Start()
	if err != nil {
		return nil, nil, fmt.Errorf("serve the test web: %w", err)
	}
	return web, s, nil
}

func spec(o options) *crawlspec.Spec {
	s := crawlspec.Default()
	s.Delay, s.AllowPrivate = crawlspec.Duration(o.Delay), true
	return &s
}

// perHost splits a log, each part ordered by start.
func perHost(all []testweb.Request) map[string][]testweb.Request {
	hosts := make(map[string][]testweb.Request)
	for _, r := range all {
		hosts[r.Host] = append(hosts[r.Host], r)
	}
	return hosts
}

// tooClose counts the requests of one host that came before the delay was over, and returns its smallest gap.
func tooClose(requests []testweb.Request, delay time.Duration, from time.Time) (n int, smallest time.Duration) {
	smallest = 1 << 62
	for i := 1; i < len(requests); i++ {
		gap := testweb.MinGap(requests[i-1 : i+1])
		if gap < delay {
			n++
			fmt.Fprintf(os.Stderr, "too close: %s %s ended %.3f s into the window, %s came %v later\n", requests[i].Host,
				requests[i-1].Path, requests[i-1].End.Sub(from).Seconds(), requests[i].Path, gap)
		}
		smallest = min(smallest, gap)
	}
	return n, smallest
}

// worstOver is the time over which the worst share is taken.
const worstOver = 10 * time.Second

// rateStats are of a window of time.
type rateStats struct {
	rate, share float64
	worst       float64 // share in the worst of worstOver
	overhead    string  // beyond the delay, between a response and the next request
}

func measure(all []testweb.Request, byHost map[string][]testweb.Request, o options, from, to time.Time) rateStats {
	ideal := float64(o.Hosts) / o.Delay.Seconds()
	count := func(a, b time.Time) (n int) {
		for i := range all {
			if !all[i].At.Before(a) && all[i].At.Before(b) {
				n++
			}
		}
		return n
	}
	f := rateStats{rate: float64(count(from, to)) / to.Sub(from).Seconds(), worst: math.Inf(1)}
	f.share = f.rate / ideal
	for a := from; !a.Add(worstOver).After(to); a = a.Add(worstOver) {
		f.worst = min(f.worst, float64(count(a, a.Add(worstOver)))/worstOver.Seconds()/ideal)
	}
	var over []time.Duration
	for _, rs := range byHost {
		for i := 1; i < len(rs); i++ {
			if rs[i].At.After(from) && rs[i].At.Before(to) {
				over = append(over, rs[i].At.Sub(rs[i-1].End)-o.Delay)
			}
		}
	}
	f.overhead = quantiles(over)
	return f
}

// quantiles are the median, the 90th, the 99th percentile and the most, in milliseconds.
func quantiles(ds []time.Duration) string {
	if len(ds) == 0 {
		return "none"
	}
	slices.Sort(ds)
	at := func(q float64) float64 { return float64(ds[int(q*float64(len(ds)-1))].Microseconds()) / 1000 }
	return fmt.Sprintf("%.1f / %.1f / %.1f / %.1f", at(0.5), at(0.9), at(0.99), at(1))
}
