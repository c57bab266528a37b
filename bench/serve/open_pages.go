package main

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"seine/bench/proc"
	"seine/bench/summary"
	"seine/internal/base/sleep"
)

// openPages measures the crawl beside no open page, one, and as many as there are streams, in turn: at full speed, and then paused,
// when its processes do nothing but answer.
func (o *options) openPages(ctx context.Context, r *rig) error {
	full, err := o.beside(ctx, r, "full speed")
	if err != nil {
		return err
	}
	if err := r.pause(ctx); err != nil {
		return err
	}
	if err := sleep.For(ctx, o.Warmup); err != nil { // what is under way is finished
		return err
	}
	rest, err := o.beside(ctx, r, "paused")
	if err != nil {
		return err
	}
	alone := full.alone.crawl / full.alone.seconds
	for _, n := range o.open() {
		crawl, server := summary.Median(rest.crawl[n]), summary.Median(rest.server[n])
		fmt.Printf("%d open: %.1f ms of CPU a second more in the crawl's processes, %.1f in the server: %.2f %% of the %.0f ms that the crawl took, %.2f %% of %d cores\n",
			n, 1e3*crawl, 1e3*server, 100*(crawl+server)/alone, 1e3*alone, 100*(crawl+server)/float64(runtime.NumCPU()), runtime.NumCPU())
	}
	return nil
}

// open are the numbers of open pages.
func (o *options) open() []int { return []int{1, o.Streams} }

// extras are the seconds of CPU that were taken more in a second by numbers of open pages, in each round, and all that was taken
// without one.
type extras struct {
	crawl, server map[int][]float64
	alone         cost
}

// beside does the rounds. As a crawl needs more CPU the more it knows, each window is compared with those before and after it in
// which no page is open.
func (o *options) beside(ctx context.Context, r *rig, how string) (*extras, error) {
	nothing := func() error { return sleep.For(ctx, o.Window) }
	before, err := r.costWhile(nothing)
	if err != nil {
		return nil, err
	}
	e := &extras{crawl: make(map[int][]float64), server: make(map[int][]float64), alone: before}
	for range o.Rounds {
		for _, n := range o.open() {
			var shown atomic.Int64
			beside, err := r.costWhile(func() error { return r.leaveOpen(ctx, n, o.Window, &shown) })
			if err != nil {
				return nil, err
			}
			after, err := r.costWhile(nothing)
			if err != nil {
				return nil, err
			}
			alone := before.plus(after)
			fmt.Printf("%s, %d open, shown %d times: %v; without: %v\n", how, n, shown.Load(), beside, alone)
			e.crawl[n] = append(e.crawl[n], beside.crawl/beside.seconds-alone.crawl/alone.seconds)
			e.server[n] = append(e.server[n], beside.server/beside.seconds-alone.server/alone.seconds)
			before, e.alone = after, e.alone.plus(after)
		}
	}
	return e, nil
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
					return err
				}
				shown.Add(1)
				return nil
			})
		})
	}
	return open.Wait()
}
