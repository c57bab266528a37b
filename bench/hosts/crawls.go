//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"seine/bench/contract"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
)

// breakEverything crawls while one fault comes after the other, and checks every crawl.
func breakEverything(ctx context.Context, o options, work string) error {
	journal, err := os.Create(filepath.Join(work, "journal.log"))
	if err != nil {
		return fmt.Errorf("make journal: %w", err)
	}
	defer func() { _ = journal.Close() }()
	tell := contract.NewTally(journal)
	t, err := newTestbed(spread(), work, filepath.Join(work, "bin"), o.Seed, tell)
	if err != nil {
		return err
	}
	defer t.teardown()
	began := time.Now()
	err = t.crawls(ctx, o)
	tell.Report(os.Stdout, time.Since(began), nil)
	if n := tell.Violated(); n > 0 {
		return fmt.Errorf("%d violations; the same faults again: -seed %d", n, o.Seed)
	}
	return err
}

// crawls crawls until all faults are over, and looks at everything once more.
func (t *testbed) crawls(ctx context.Context, o options) error {
	some, err := kindsLike(o.Only)
	if err != nil {
		return err
	}
	if err := t.start(ctx); err != nil {
		return err
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var now contract.Now
	go now.Watch(ctx, t.tell, fail)
	calm := make(chan struct{})
	go func() {
		defer close(calm)
		inject(ctx, t, deck(t.layout, some, o.Rounds, o.Seed))
	}()
	for n, over := 1, false; !over; n++ {
		if err := t.crawl(ctx, o, n, &now); err != nil {
			fail(err)
			<-calm
			return context.Cause(ctx)
		}
		select {
		case <-calm:
			over = true
		default:
		}
	}
	t.drain()
	if err := contract.CheckFiles(ctx, t.outputs, t.tell); err != nil {
		return err
	}
	return contract.CheckDead(ctx, t.bus, t.tell)
}

// crawl makes one crawl of a web that no crawl has seen, and checks it.
func (t *testbed) crawl(ctx context.Context, o options, n int, now *contract.Now) error {
	spec := crawlspec.Default()
	spec.Delay = crawlspec.Duration(o.Delay)
	c, err := t.newCrawl(fmt.Sprintf("hosts-%03d", n), spec, testweb.Config{
		Seed: o.Seed + uint64(n), Hosts: o.Hosts, PagesPerHost: o.Pages, LinksPerPage: 8, CrossHostLinks: 0.2, PageBytes: 4 << 10, //nolint:gosec // few
		LargeRate: 0.01, // travel through the object store
		// Long enough for every fetcher to have requests under way when it is cut off.
		Latency: 100 * time.Millisecond, LatencyJitter: 200 * time.Millisecond,
		ErrorRate: 0.01, MissingRate: 0.03, RedirectRate: 0.03,
	})
	if err != nil {
		return err
	}
	defer c.Close()
	now.Begin(c)
	return c.Run(ctx, t.bus, t.outputs, t.tell, now.Say)
}

// newCrawl serves a web on its host.
func (t *testbed) newCrawl(name string, spec crawlspec.Spec, cfg testweb.Config) (*contract.Crawl, error) {
	cfg.Domain = domain
	spec.AllowPrivate = true
	web := testweb.New(cfg)
	listener, err := t.hosts[t.web].Listen(webPort)
	if err != nil {
		return nil, err
	}
	return contract.NewCrawl(name, spec, web, testweb.ServeOn(listener, web)), nil
}
