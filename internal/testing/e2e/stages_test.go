package e2e

import (
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
)

// quick is a spec for loopback: no delay, high concurrency.
func quick() *crawlspec.Spec {
	s := crawlspec.Default()
	s.Delay, s.PerHost, s.AllowPrivate = 0, 16, true
	return &s
}

func TestStagesCrawlASiteTogether(t *testing.T) {
	site, web := testSite(t, testweb.Config{PagesPerHost: 400, ErrorRate: 0.05, RedirectRate: 0.05, MissingRate: 0.02})
	c := newCluster(t, shape{fetchers: 3, parsers: 2, writers: 2})
	bus := c.bus()
	c.begin(bus, "site", quick(), site.seed)
	c.finish(bus, "site", 2*time.Minute)
	wantPages(t, records(t, c.out(), "site"), site.pages)
	for _, path := range web.Disallowed(0) {
		if n := web.Count(0, path); n > 0 {
			t.Errorf("%s was fetched %d times although robots.txt forbids it", path, n)
		}
	}
}

func TestStagesCrawlRealDocumentation(t *testing.T) {
	site := docs(t, "postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html")
	c := newCluster(t, shape{fetchers: 3, parsers: 2})
	bus := c.bus()
	c.begin(bus, "docs", quick(), site.seed)
	n := c.finish(bus, "docs", 2*time.Minute)
	rs := records(t, c.out(), "docs")
	if int(n.Pages) != len(rs) {
		t.Errorf("%d pages fetched and %d records", n.Pages, len(rs))
	}
	wantDocs(t, site, rs)
}

// Every process and the broker are killed in turn, at random moments of the crawl. The output does
// not show it.
func TestKillingAnyProcessLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	t.Run("each stage in its processes", func(t *testing.T) { testKillingAnyProcess(t, nil) })
	t.Run("fetchers that parse", func(t *testing.T) { testKillingAnyProcess(t, []string{"--chain"}) })
}

func testKillingAnyProcess(t *testing.T, fetcherArgs []string) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 1200, Latency: 5 * time.Millisecond, LatencyJitter: 20 * time.Millisecond, ErrorRate: 0.02})
	c := newCluster(t, shape{fetchers: 2, parsers: 2, writers: 1, fetcherArgs: fetcherArgs})
	bus := c.bus()
	c.begin(bus, "site", quick(), site.seed)
	seed := uint64(time.Now().UnixNano())
	t.Logf("random seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	victims := append(c.all(), c.nats)
	rng.Shuffle(len(victims), func(i, j int) { victims[i], victims[j] = victims[j], victims[i] })
	for i, p := range victims {
		// The moment is defined by the progress of the crawl: a share of the pages served.
		target := (i + 1) * len(site.pages) / (len(victims) + 2)
		jitter := time.Duration(rng.IntN(100)) * time.Millisecond
		eventually(t, time.Minute, "serve more pages", func() (bool, string) {
			return len(web.Requests()) >= target, ""
		})
		time.Sleep(jitter) // the moment is meant to be random
		p.kill()
		p.start()
	}
	c.finish(bus, "site", 3*time.Minute)
	wantPages(t, records(t, c.out(), "site"), site.pages)
	t.Logf("%d requests for %d pages, %d kills", len(web.Requests()), len(site.pages), len(victims))
}

func TestDelayHoldsOverFetchersAndARestartOfTheFrontier(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 9, LinksPerPage: 8})
	c := newCluster(t, shape{fetchers: 3})
	bus := c.bus()
	spec := quick()
	spec.Delay = crawlspec.Duration(time.Second)
	c.begin(bus, "site", spec, site.seed)
	eventually(t, time.Minute, "fetch some pages", func() (bool, string) { return len(web.Requests()) >= 4, "" })
	c.front.kill()
	c.front.start()
	c.finish(bus, "site", time.Minute)
	wantPages(t, records(t, c.out(), "site"), site.pages)
	if gap := web.MinGap(0); gap < time.Second {
		t.Errorf("two requests were %v apart, want at least 1s", gap)
	}
}

// A killed fetcher may have just sent a request to the host, and a killed broker forgets its last
// acknowledgements. Neither shows in the gaps that the host sees.
func TestDelayHoldsWhateverIsKilled(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 80, LinksPerPage: 8})
	c := newCluster(t, shape{fetchers: 2})
	bus := c.bus()
	spec := quick()
	spec.Delay = crawlspec.Duration(200 * time.Millisecond)
	c.begin(bus, "site", spec, site.seed)
	for i, p := range []*process{c.nats, c.fetch[0], c.fetch[1], c.nats, c.front, c.nats} {
		eventually(t, time.Minute, "fetch some pages", func() (bool, string) { return len(web.Requests()) >= 10*(i+1), "" })
		p.kill()
		p.start()
	}
	c.finish(bus, "site", 2*time.Minute)
	wantPages(t, records(t, c.out(), "site"), site.pages)
	if gap := web.MinGap(0); gap < 200*time.Millisecond {
		t.Errorf("two requests were %v apart, want at least 200ms", gap)
	}
}

// While the parser is stopped, small streams fill up, block the fetcher, and lose nothing.
func TestFullStreamsHoldTheFetcherBack(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 600, LinksPerPage: 40, PageBytes: 64 << 10})
	c := newCluster(t, shape{
		frontierArgs: []string{"--pages-bytes", "2MiB", "--urls-bytes", "2MiB", "--records-bytes", "32MiB"},
	})
	bus := c.bus()
	c.begin(bus, "site", quick(), site.seed)
	eventually(t, time.Minute, "fetch some pages", func() (bool, string) { return len(web.Requests()) > 100, "" })
	c.parse[0].signal(syscall.SIGSTOP)
	eventually(t, time.Minute, "be refused by the full stream", func() (bool, string) {
		m := c.fetch[0].metrics()
		return strings.Contains(m, `seine_publish_refused_total{reason="full",stage="fetcher",stream="pages"}`), ""
	})
	before := c.fetch[0].rss()
	time.Sleep(2 * time.Second) // memory must not grow while the fetcher is blocked
	if after := c.fetch[0].rss(); after > before+32<<20 {
		t.Errorf("the fetcher grew from %d to %d MiB while it was held back", before>>20, after>>20)
	}
	c.parse[0].signal(syscall.SIGCONT)
	c.finish(bus, "site", 2*time.Minute)
	wantPages(t, records(t, c.out(), "site"), site.pages)
}
