package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"seine/bench/proc"
	"seine/internal/base/sleep"
)

// openPages measures the crawl beside no open page, one, and as many as there are streams, in turn.
func (o *options) openPages(ctx context.Context, r *rig) error {
	for range o.Rounds {
		alone, err := r.pagesWhile(func() error { return sleep.For(ctx, o.Window) })
		if err != nil {
			return err
		}
		for _, n := range []int{1, o.Streams} {
			var shown atomic.Int64
			beside, err := r.pagesWhile(func() error { return r.leaveOpen(ctx, n, o.Window, &shown) })
			if err != nil {
				return err
			}
			fmt.Printf("%.0f pages/s without an open page, %.0f with %d, shown %d times in all: %.3f\n", alone, beside, n, shown.Load(), beside/alone)
		}
	}
	return nil
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
