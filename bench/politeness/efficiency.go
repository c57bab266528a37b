package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"seine/bench/fleet"
	"seine/internal/base/sleep"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
)

func header() {
	fmt.Println("| hosts | delay | by | requests/s | of ideal | worst 10 s | smallest gap | violations | overhead p50/p90/p99/max ms | CPU ms/page |")
	fmt.Println("|---:|---:|---|---:|---:|---:|---:|---:|---:|---|")
}

// by says what crawls.
func (o *options) by() string {
	if o.One {
		return "one process"
	}
	text := fmt.Sprintf("stages, fetchers: %d", o.Fetchers)
	if o.Kill {
		text += ", frontier killed midway"
	}
	return text
}

// efficiency measures one run, and returns how many gaps were too short.
func (b *bench) efficiency(ctx context.Context) (int, error) {
	web, server, err := startWeb(&b.options, b.Warmup+b.Window)
	if err != nil {
		return 0, err
	}
	defer server.Close()
	c, t, err := b.begin(ctx, server)
	if err != nil {
		return 0, err
	}
	defer c.Close(b.Profile != "") // whoever is killed writes no profile
	if err := sleep.For(ctx, b.Warmup); err != nil {
		return 0, err
	}
	w, err := b.watch(ctx, c)
	if err != nil {
		return 0, err
	}
	load, _ := os.ReadFile("/proc/loadavg")
	all := web.Requests()
	byHost := perHost(all)
	violations, smallest := 0, time.Duration(1<<62)
	for h := range byHost {
		n, gap := tooClose(byHost[h], b.Delay, w.from)
		violations += n
		smallest = min(smallest, gap)
	}
	f := measure(all, byHost, &b.options, w.from, w.to)
	fmt.Printf("| %d | %v | %s | %.1f | %.1f %% | %.1f %% | %.4f s | %d | %s | %s |\n", b.Hosts, b.Delay, b.by(),
		f.rate, 100*f.share, 100*f.worst, smallest.Seconds(), violations, f.overhead, w.after.Since(w.before).PerPage(f.requests))
	fmt.Fprintf(os.Stderr, "load before the end %s\n", strings.TrimSpace(string(load)))
	if t != nil {
		t.report(os.Stderr, byHost, w.from, w.to, b.Delay)
	}
	return violations, nil
}

// begin starts a crawl of all hosts.
func (b *bench) begin(ctx context.Context, s *testweb.Server) (c *fleet.Fleet, t *tracer, err error) {
	dir, err := os.MkdirTemp(b.work, "run-")
	if err != nil {
		return nil, nil, fmt.Errorf("make run folder: %w", err)
	}
	seeds := make([]string, b.Hosts)
	for h := range seeds {
		seeds[h] = s.URL(h, "/")
	}
	if b.One {
		var more []string
		if b.Profile != "" {
			more = []string{"--cpuprofile", b.Profile}
		}
		c, err := fleet.StartOne(b.fail, b.bin, dir, spec(&b.options), seeds, more...)
		return c, nil, err
	}
	c, err = fleet.Start(b.fail, b.bin, dir, fleet.Setup{Fetchers: b.Fetchers})
	if err != nil {
		return nil, nil, err
	}
	if err = c.Join(ctx); err == nil && b.Trace {
		t, err = startTracer(c.Bus.NC)
	}
	if err == nil {
		err = c.Feed(ctx, spec(&b.options), seeds)
	}
	if err != nil {
		c.Close(false)
		return nil, nil, err
	}
	return c, t, nil
}

// window is the time that is measured, and the CPU that was used before each end of it.
type window struct {
	from, to      time.Time
	before, after fleet.Usage
}

// watch lets the time of the window go by.
func (b *bench) watch(ctx context.Context, c *fleet.Fleet) (w window, err error) {
	w.from = time.Now()
	w.to = w.from.Add(b.Window)
	if w.before, err = c.CPU(); err != nil {
		return w, err
	}
	if b.Kill {
		if err := sleep.For(ctx, b.Window/2); err != nil {
			return w, err
		}
		if err := c.RestartFrontier(); err != nil {
			return w, err
		}
	}
	if err := sleep.For(ctx, time.Until(w.to)); err != nil {
		return w, err
	}
	w.after, err = c.CPU()
	return w, err
}

func startWeb(o *options, lasts time.Duration) (*testweb.Web, *testweb.Server, error) {
	web := testweb.New(testweb.Config{
		Hosts: o.Hosts, PageBytes: o.PageSize, Latency: o.Latency, LinksPerPage: 10,
		PagesPerHost: int(lasts/o.Delay) + 20, LogLimit: 10_000_000,
	})
	s, err := testweb.Serve("127.0.0.1:0", web)
	if err != nil {
		return nil, nil, fmt.Errorf("serve the test web: %w", err)
	}
	return web, s, nil
}

func spec(o *options) *crawlspec.Spec {
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
	requests    int
	rate, share float64
	worst       float64 // share in the worst of worstOver
	overhead    string  // beyond the delay, between a response and the next request
}

func measure(all []testweb.Request, byHost map[string][]testweb.Request, o *options, from, to time.Time) rateStats {
	ideal := float64(o.Hosts) / o.Delay.Seconds()
	count := func(a, b time.Time) (n int) {
		for i := range all {
			if !all[i].At.Before(a) && all[i].At.Before(b) {
				n++
			}
		}
		return n
	}
	f := rateStats{requests: count(from, to), worst: math.Inf(1)}
	f.rate = float64(f.requests) / to.Sub(from).Seconds()
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
