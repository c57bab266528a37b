package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
)

type limits struct {
	workers int
	urls    int // most URLs to ask for
}

// collect follows the links from a page, level by level. What it found is for the server to tell, which saw it all.
func collect(ctx context.Context, start string, lim limits, t *totals) error {
	var mu sync.Mutex
	seen := map[string]bool{start: true}
	for level := []string{start}; len(level) > 0; {
		var next []string // guarded by mu
		err := fetchAll(ctx, level, lim.workers, func(ctx context.Context, c *http.Client, u string) error {
			p, err := get(ctx, c, u)
			if err != nil || !p.html {
				return err
			}
			t.add(p)
			mu.Lock()
			defer mu.Unlock()
			for _, to := range p.targets() {
				if !seen[to] {
					seen[to] = true
					next = append(next, to)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if len(seen) > lim.urls {
			return fmt.Errorf("collect: more than %d URLs", lim.urls)
		}
		level = next
	}
	return nil
}
