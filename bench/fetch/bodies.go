package main

import (
	"context"
	"fmt"

	"seine/bench/proc"
)

// largePage is the size of a page of which a few hundred fill the memory for bodies.
const largePage = 1_000_000

// bodies measures whether the memory for bodies is what it is told to be. What a fetcher takes beside that, it shows
// with small bodies.
func (b *bench) bodies(ctx context.Context) error {
	budget := fmt.Sprintf("--max-in-flight-body=%dMiB", b.Budget)
	fmt.Printf("%d hosts that answer in %s, %d requests at a time, %s\n\n", b.Hosts, b.Latency, b.Workers, budget)
	fmt.Println("| bytes of a page | pages/s | MB/s | RSS MB | CPU µs/page | web | NATS | other cores |")
	fmt.Println("|---:|---:|---:|---:|---:|---:|---:|---:|")
	var rss []float64
	for _, size := range []int{smallPage, largePage} {
		got, err := b.sized(ctx, size, budget)
		if err != nil {
			return err
		}
		rss = append(rss, proc.MB(got.rss))
		fmt.Printf("| %d | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.2f |\n", size, got.rate(), got.rate()*float64(size)/1e6,
			proc.MB(got.rss), got.fetchers, got.web, got.nats, got.others)
	}
	base, allowed := rss[0], float64(b.Budget<<20)/1e6
	fmt.Printf("\nLarge bodies take %.0f MB more, of %.0f MB.\n", rss[1]-base, allowed)
	if rss[1] > base+b.MaxOver*allowed {
		return fmt.Errorf("the fetcher's RSS is %.0f MB, more than %.0f MB and %g times %.0f MB", rss[1], base, b.MaxOver, allowed)
	}
	return nil
}

func (b *bench) sized(ctx context.Context, size int, args ...string) (window, error) {
	w, err := b.startWeb(ctx, size, "")
	if err != nil {
		return window{}, err
	}
	defer w.close()
	return b.alone(ctx, w, args...)
}
