package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"seine/bench/proc"
	"seine/internal/base/sleep"
)

// openPages measures the crawl beside no open page, one, and as many as there are streams, in turn. As a crawl needs more CPU for a
// page the more it knows, each window is compared with those before and after it in which no page is open.
func (o *options) openPages(ctx context.Context, r *rig) error {
	nothing := func() error { return sleep.For(ctx, o.Window) }
	before, err := r.costWhile(nothing)
	if err != nil {
		return err
	}
	extras := make(map[int][]float64)
	for range o.Rounds {
		for _, n := range []int{1, o.Streams} {
			var shown atomic.Int64
			beside, err := r.costWhile(func() error { return r.leaveOpen(ctx, n, o.Window, &shown) })
			if err != nil {
				return err
			}
			after, err := r.costWhile(nothing)
			if err != nil {
				return err
			}
			extras[n] = append(extras[n], reportOpen(n, beside, before.plus(after), shown.Load()))
			before = after
		}
	}
	for _, n := range []int{1, o.Streams} {
		fmt.Printf("%d open: %+.2f %% of the crawl's CPU (median of %d, %+.2f to %+.2f)\n",
			n, 100*middle(extras[n]), o.Rounds, 100*slices.Min(extras[n]), 100*slices.Max(extras[n]))
	}
	return nil
}

// reportOpen prints what happened beside open pages and without, and returns the CPU that was taken more, as a part of the crawl's.
func reportOpen(n int, beside, alone cost, shown int64) float64 {
	crawl, server := beside.extra(alone)
	fmt.Printf("%d open, shown %d times: %.0f pages/s (%.0f without); the crawl %.3f ms of CPU a page (%.3f), the server %.1f ms a second (%.1f): %+.2f %% and %+.2f %%\n",
		n, shown, beside.pagesPerSecond(), alone.pagesPerSecond(), 1e3*beside.crawlPerPage(), 1e3*alone.crawlPerPage(),
		1e3*beside.serverPerSecond(), 1e3*alone.serverPerSecond(), 100*crawl, 100*server)
	return crawl + server
}

// middle is the median.
func middle(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// leaveOpen does for some time what the script of a page that is left open does: it shows itself anew at each look.
func (r *rig) leaveOpen(ctx context.Context, n int, window time.Duration, shown *atomic.Int64) error {
	ctx, end := context.WithTimeout(ctx, window)
	defer end()
	open, ctx := errgroup.WithContext(ctx)
	for range n {
		open.Go(func() error {
			return listen(ctx, r.pages+"/events", "event: look", func() error {
				_, err := proc.Get(ctx, r.pages+"/crawls/default")
				if ctx.Err() == nil && err != nil {
					return err //nolint:wrapcheck // says all
				}
				shown.Add(1)
				return nil
			})
		})
	}
	return open.Wait() //nolint:wrapcheck // says all
}
