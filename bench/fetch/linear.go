package main

import (
	"context"
	"errors"
	"fmt"
)

// shares are how much more so many fetchers must do than one.
var shares = []struct {
	fetchers int
	least    float64
}{{1, 1}, {2, 1.9}, {4, 3.6}}

// linear measures whether fetchers that only wait for hosts add up.
func (b *bench) linear(ctx context.Context) error {
	w, err := b.startWeb(ctx, smallPage, "")
	if err != nil {
		return err
	}
	defer w.close()
	fmt.Printf("%d hosts that answer in %s, %d requests at a time for each fetcher\n\n", b.Hosts, b.Latency, b.Workers)
	fmt.Println("| fetchers | pages/s | of ideal | times one | CPU µs/page | web | NATS | other cores |")
	fmt.Println("|---:|---:|---:|---:|---:|---:|---:|---:|")
	var errs []error
	one := 0.0
	for _, s := range shares {
		got, err := b.measureFetchers(ctx, w, s.fetchers)
		if err != nil {
			return err
		}
		if one == 0 {
			one = got.rate()
		}
		times := got.rate() / one
		fmt.Printf("| %d | %.0f | %.1f %% | %.2f | %.0f | %.0f | %.0f | %.2f |\n", s.fetchers, got.rate(), 100*got.rate()/b.ideal(s.fetchers),
			times, got.fetchers, got.web, got.nats, got.others)
		if times < s.least {
			errs = append(errs, fmt.Errorf("%d fetchers do %.2f times as much as one, less than %g", s.fetchers, times, s.least))
		}
	}
	return errors.Join(errs...)
}

// measureFetchers measures some fetchers that share the requests.
func (b *bench) measureFetchers(ctx context.Context, w *web, fetchers int) (got window, err error) {
	r, err := b.startRig(ctx, w)
	if err != nil {
		return got, err
	}
	defer r.close()
	if err := r.feed(ctx, b.enough(fetchers)); err != nil {
		return got, err
	}
	for range fetchers {
		if err := r.addFetcher(); err != nil {
			return got, err
		}
	}
	if got, err = r.measure(ctx); err != nil {
		return got, err
	}
	r.drain()
	return got, r.check(ctx)
}
