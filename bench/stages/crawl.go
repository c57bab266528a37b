package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"seine/bench/fleet"
	"seine/internal/base/sleep"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// workers are the requests at a time in all.
const workers = "64"

// crawl does one crawl of a web of its own, and tells how many requests that had a second, and what each has cost in ms.
func (o *options) crawl(ctx context.Context, fail context.CancelCauseFunc, bin, work string, chain bool) (rate float64, cpu fleet.Usage, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	dir, err := os.MkdirTemp(work, "run-")
	if err != nil {
		return 0, nil, fmt.Errorf("make run folder: %w", err)
	}
	if !o.Keep {
		defer func() { _ = os.RemoveAll(dir) }()
	}
	web := testweb.New(testweb.Config{Hosts: o.Hosts, PagesPerHost: o.Pages, PageBytes: o.PageSize, LinksPerPage: 10})
	s, err := testweb.Serve("127.0.0.1:0", web)
	if err != nil {
		return 0, nil, fmt.Errorf("serve the test web: %w", err)
	}
	defer s.Close()
	c := &crawl{web: web, bin: bin, dir: dir, fail: fail, chain: chain, spec: crawlspec.Default()}
	c.spec.Delay, c.spec.PerHost, c.spec.AllowPrivate = 0, 16, true
	for h := range o.Hosts {
		c.seeds = append(c.seeds, s.URL(h, "/"))
		c.pages += len(web.Pages(h))
	}
	var used fleet.Usage
	if o.One {
		used, err = fleet.RunOne(ctx, bin, dir, &c.spec, c.seeds, "--workers", workers)
	} else {
		used, err = c.byStages(ctx)
	}
	if err != nil {
		return 0, nil, err
	}
	if written, err := fleet.Records(fleet.Out(dir)); err != nil {
		return 0, nil, err
	} else if written != c.pages {
		return 0, nil, fmt.Errorf("%d records of %d pages", written, c.pages)
	}
	log := web.Requests()
	took := log[len(log)-1].End.Sub(log[0].At)
	return float64(len(log)) / took.Seconds(), used.PerPage(len(log)), nil
}

// crawl is what is done in one run.
type crawl struct {
	web      *testweb.Web
	pages    int // of it
	seeds    []string
	spec     crawlspec.Spec
	bin, dir string
	fail     context.CancelCauseFunc
	chain    bool // the fetcher parses its pages
}

// byStages crawls by a nats-server and the stages, and tells what they have cost from the seeds to the last record.
func (c *crawl) byStages(ctx context.Context) (fleet.Usage, error) {
	f, err := fleet.Start(c.fail, c.bin, c.dir, fleet.Setup{
		Fetchers: 1, Chain: c.chain, Fetch: []string{"--workers", workers}, Write: []string{"--chunk-age", "2s"},
	})
	if err != nil {
		return nil, err
	}
	defer f.Close(false)
	if err := f.Join(ctx); err != nil {
		return nil, err
	}
	before, err := f.CPU()
	if err != nil {
		return nil, err
	}
	if err := f.Feed(ctx, &c.spec, c.seeds); err != nil {
		return nil, err
	}
	if err := c.await(ctx); err != nil {
		return nil, err
	}
	after, err := f.CPU()
	used := after.Since(before)
	if c.chain {
		used[messages.StageParser] = 0
	}
	return used, err
}

// await waits until all pages are written. The output is looked at only since all were asked for.
func (c *crawl) await(ctx context.Context) error {
	for written := 0; written < c.pages; {
		if err := sleep.For(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("%d of %d pages are written: %w", written, c.pages, context.Cause(ctx))
		}
		if c.asked() < c.pages {
			continue
		}
		var err error
		if written, err = fleet.Records(fleet.Out(c.dir)); err != nil {
			return err
		}
	}
	return nil
}

// asked counts the requests for pages.
func (c *crawl) asked() (n int) {
	c.web.Log().Select(func(r *testweb.Request) bool {
		if r.Path != "/robots.txt" {
			n++
		}
		return false
	})
	return n
}
