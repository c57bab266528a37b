package main

import (
	"fmt"
	"time"

	"seine/bench/contract"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
)

// newCrawl serves a web that no crawl has seen.
func newCrawl(o options, n int) (*contract.Crawl, error) {
	web := testweb.New(testweb.Config{
		Seed: o.Seed + uint64(n), Hosts: o.Hosts, PagesPerHost: o.Pages, LinksPerPage: 8, CrossHostLinks: 0.2, PageBytes: 4 << 10,
		LargeRate: 0.03, // travel through the object store
		Latency:   5 * time.Millisecond, LatencyJitter: 20 * time.Millisecond,
		ErrorRate: 0.01, MissingRate: 0.03, RedirectRate: 0.03, // five errors in a row would give a host a rest of minutes
	})
	server, err := testweb.Serve("127.0.0.1:0", web)
	if err != nil {
		return nil, fmt.Errorf("serve the test web: %w", err)
	}
	spec := crawlspec.Default()
	spec.Delay, spec.AllowPrivate, spec.Archive = crawlspec.Duration(o.Delay), true, true
	if o.Renderers > 0 {
		spec.SetRender(crawlspec.RenderAlways)
		spec.Render.Until, spec.Render.Timeout = crawlspec.UntilLoad, renderTimeout
	}
	return contract.NewCrawl(fmt.Sprintf("soak-%03d", n), spec, web, server), nil
}

// renderTimeout is how long a page may take in a browser: longer than on a busy machine, and shorter than browsers hang.
const renderTimeout = crawlspec.Duration(10 * time.Second)
