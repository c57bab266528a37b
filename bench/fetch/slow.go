package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"seine/bench/proc"
)

// smallPage is the size of a page where that does not matter.
const smallPage = 1000

// slow measures how near a fetcher comes to the rate that its workers allow.
func (b *bench) slow(ctx context.Context) error {
	w, err := b.startWeb(ctx, smallPage, "")
	if err != nil {
		return err
	}
	defer w.close()
	ideal := b.ideal(1)
	fmt.Printf("%d hosts that answer in %s, %d requests at a time: %.0f pages/s are ideal\n\n", b.Hosts, b.Latency, b.Workers, ideal)
	fmt.Println("| | pages/s | of ideal | RSS MB | CPU µs/page | web | NATS | bench | other cores |")
	fmt.Println("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
	got, err := b.alone(ctx, w)
	if err != nil {
		return err
	}
	fmt.Printf("| fetcher | %.0f | %.1f %% | %.0f | %.0f | %.0f | %.0f | %.0f | %.2f |\n", got.rate(), 100*got.rate()/ideal,
		proc.MB(got.rss), got.fetchers, got.web, got.nats, got.own, got.others)
	rate, err := b.bareRate(ctx, w, ideal)
	if err != nil {
		return err
	}
	fmt.Printf("\nThe fetcher makes %.0f %% of the loop's rate.\n", 100*got.rate()/rate)
	var errs []error
	if share := got.rate() / ideal; share < b.MinShare {
		errs = append(errs, fmt.Errorf("the fetcher makes %.2f of the ideal rate, less than %g", share, b.MinShare))
	}
	if rss := proc.MB(got.rss); rss > b.MaxRSS {
		errs = append(errs, fmt.Errorf("the fetcher's RSS is %.0f MB, more than %g", rss, b.MaxRSS))
	}
	return errors.Join(errs...)
}

// alone measures one fetcher.
func (b *bench) alone(ctx context.Context, w *web, args ...string) (got window, err error) {
	r, err := b.startRig(ctx, w)
	if err != nil {
		return got, err
	}
	defer r.close()
	if err := r.feed(ctx, b.enough(1)); err != nil {
		return got, err
	}
	if err := r.addFetcher(args...); err != nil {
		return got, err
	}
	if got, err = r.measure(ctx); err != nil {
		return got, err
	}
	r.drain()
	return got, r.check(ctx)
}

// bareRate prints what a loop around net/http makes of the same.
func (b *bench) bareRate(ctx context.Context, w *web, ideal float64) (float64, error) {
	loop, err := b.startBare(ctx, w, false)
	if err != nil {
		return 0, err
	}
	defer loop.close()
	if _, err := loop.fetch(int(ideal * min(b.Warmup, 2*time.Second).Seconds())); err != nil {
		return 0, err
	}
	n := int(ideal * b.Window.Seconds() / 2)
	cpu, err := loop.costs()
	if err != nil {
		return 0, err
	}
	webCPU, err := w.costs()
	if err != nil {
		return 0, err
	}
	g, err := loop.fetch(n)
	if err != nil {
		return 0, err
	}
	cpuNow, err := loop.costs()
	if err != nil {
		return 0, err
	}
	webNow, err := w.costs()
	if err != nil {
		return 0, err
	}
	rss, _, err := proc.Memory(loop.pid())
	if err != nil {
		return 0, err
	}
	rate := float64(n) / g.Seconds
	fmt.Printf("| loop around net/http | %.0f | %.1f %% | %.0f | %.0f | %.0f | | | |\n", rate, 100*rate/ideal, proc.MB(rss),
		(cpuNow-cpu)/float64(n)*1e6, (webNow-webCPU)/float64(n)*1e6)
	return rate, nil
}
