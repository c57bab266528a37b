package main

import (
	"context"
	"fmt"
	"path/filepath"
)

// cpu compares what a page costs the fetcher with what it costs loops around net/http, of which one has the body in the
// end, as the fetcher has, and the other throws it away: rounds of the same pages from
// the same server, in turns. A fetcher's round begins when its requests are published, and ends when it has stored the
// last result.
func (b *bench) cpu(ctx context.Context) error {
	dir, err := filepath.Abs(b.Dir)
	if err != nil {
		return fmt.Errorf("-dir: %w", err)
	}
	b.Dir = dir
	w, err := b.startWeb(ctx, 0, b.Dir)
	if err != nil {
		return err
	}
	defer w.close()
	r, err := b.startRig(ctx, w)
	if err != nil {
		return err
	}
	defer r.close()
	if err := r.addFetcher(); err != nil {
		return err
	}
	var loops [2]*bare
	for i := range loops {
		if loops[i], err = b.startBare(ctx, w, i == 1); err != nil {
			return err
		}
		defer loops[i].close()
	}
	return r.compare(ctx, loops)
}

func (r *testbed) compare(ctx context.Context, loops [2]*bare) error {
	fmt.Printf("%d files, %d pages a round, %d requests at a time; CPU in µs for a page\n\n", len(r.web.paths), r.Pages, r.Workers)
	fmt.Println("| | fetcher | pages/s | web | NATS | bench | loop | pages/s | web | fetcher to loop | loop that discards | pages/s | web | fetcher to it |")
	fmt.Println("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	var costs [1 + len(loops)][]float64
	var ratios [len(loops)][]float64
	for round := range r.Rounds + 1 {
		got, err := r.round(ctx)
		if err != nil {
			return err
		}
		line := fmt.Sprintf("| %d | %.1f | %.0f | %.1f | %.1f | %.1f |", round, got.fetchers, got.rate(), got.web, got.nats, got.own)
		if round > 0 { // which is to warm up
			costs[0] = append(costs[0], got.fetchers)
		}
		for i, loop := range loops {
			beside, err := r.bareRound(loop)
			if err != nil {
				return err
			}
			ratio := got.fetchers / beside.fetchers
			if round > 0 {
				costs[1+i], ratios[i] = append(costs[1+i], beside.fetchers), append(ratios[i], ratio)
			}
			line += fmt.Sprintf(" %.1f | %.0f | %.1f | %.2f |", beside.fetchers, beside.rate(), beside.web, ratio)
		}
		fmt.Println(line)
	}
	if err := r.profiled(ctx); err != nil {
		return err
	}
	r.drain()
	if err := r.check(ctx); err != nil {
		return err
	}
	return r.judge(costs, ratios)
}

// judge fails if the fetcher costs too much beside the loop that keeps bodies.
func (r *testbed) judge(costs [3][]float64, ratios [2][]float64) error {
	f, least, most := median(costs[0])
	fmt.Printf("\nMedians: fetcher %.1f µs (%.1f–%.1f)", f, least, most)
	for i, name := range []string{"loop", "loop that discards"} {
		l, _, _ := median(costs[1+i])
		ratio, least, most := median(ratios[i])
		fmt.Printf("; %s %.1f µs, ratio %.2f (%.2f–%.2f)", name, l, ratio, least, most)
	}
	fmt.Println()
	if ratio, _, _ := median(ratios[0]); ratio > r.MaxRatio {
		return fmt.Errorf("a page takes the fetcher %.2f times the CPU of the loop around net/http, more than %g", ratio, r.MaxRatio)
	}
	return nil
}

// round has the fetcher do a round of pages.
func (r *testbed) round(ctx context.Context) (w window, err error) {
	before, err := r.costs(ctx)
	if err != nil {
		return w, err
	}
	if err := r.feed(ctx, r.Pages); err != nil {
		return w, err
	}
	if err := r.await(ctx); err != nil {
		return w, err
	}
	after, err := r.costs(ctx)
	if err != nil {
		return w, err
	}
	return between(before, after), r.discard(ctx)
}

// bareRound has the loop do as much. The requests are not the fetcher's.
func (r *testbed) bareRound(loop *bare) (w window, err error) {
	before, err := loop.costs()
	if err != nil {
		return w, err
	}
	webBefore, err := r.web.costs()
	if err != nil {
		return w, err
	}
	g, err := loop.fetch(r.Pages)
	if err != nil {
		return w, err
	}
	r.seenWeb += int64(r.Pages)
	after, err := loop.costs()
	if err != nil {
		return w, err
	}
	webAfter, err := r.web.costs()
	each := 1e6 / float64(r.Pages)
	return window{seconds: g.Seconds, pages: float64(r.Pages), fetchers: (after - before) * each, web: (webAfter - webBefore) * each}, err
}

// profiled does one more round, if a profile of it is wanted.
func (r *testbed) profiled(ctx context.Context) error {
	if r.CPUProfile == "" {
		return nil
	}
	profiled := make(chan error, 1)
	go func() { profiled <- r.profile(ctx, r.CPUProfile, "profile?seconds=5") }()
	for {
		if _, err := r.round(ctx); err != nil {
			return err
		}
		select {
		case err := <-profiled:
			return err
		default:
		}
	}
}
