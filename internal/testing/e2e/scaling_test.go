package e2e

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// figure returns a metric of a process, summed over its labels.
func (p *process) figure(name string) (sum float64) {
	for _, m := range regexp.MustCompile(`(?m)^`+name+`(?:\{[^}]*\})? (\S+)$`).FindAllStringSubmatch(p.metrics(), -1) {
		n, _ := strconv.ParseFloat(m[1], 64)
		sum += n
	}
	return sum
}

// work has the metric that measures the work of each stage.
var work = map[string]string{
	messages.StageFrontier: "seine_frontier_requests_total",
	messages.StageFetcher:  "seine_messages_handled_total",
	messages.StageParser:   "seine_messages_handled_total",
	messages.StageWriter:   "seine_writer_records_total",
}

// Each stage is scaled from one process to three and back during the crawl. With three, each
// process gets work, and the web sees three times as many concurrent requests. Of the processes
// that leave, some are drained and some killed. No page is lost or repeated.
func TestStagesScaleUpAndDownInMidCrawl(t *testing.T) {
	t.Parallel() // mostly waits for the web's latency
	const hosts, workers = 24, 4
	web := serveHosts(t, testweb.Config{Hosts: hosts, PagesPerHost: 70, LinksPerPage: 8, CrossHostLinks: 0.2, PageBytes: 4 << 10, Latency: 40 * time.Millisecond})
	fetcherArgs := []string{"--workers", fmt.Sprint(workers)}
	f := newFleet(t, 1, shape{fetcherArgs: fetcherArgs})
	spec := crawlspec.Default()
	spec.Delay, spec.PerHost, spec.AllowPrivate = 0, 4, true
	f.cluster.begin(f.bus, "many", &spec, seedsOf(web.server, hosts)...)

	// during returns the concurrency that the web sees during n more requests.
	during := func(what string, n int) (atOnce int) {
		t.Helper()
		began, before := time.Now(), len(web.Requests())
		eventually(t, time.Minute, "fetch pages", func() (bool, string) {
			return len(web.Requests()) >= before+n, fmt.Sprint(len(web.Requests()))
		}, f.living()...)
		took := time.Since(began)
		atOnce = testweb.MaxConcurrent(web.Log().Select(func(r *testweb.Request) bool { return r.At.After(began) }))
		t.Logf("%s %s: %.0f requests/s, at most %d at a time", f.at(began), what, float64(len(web.Requests())-before)/took.Seconds(), atOnce)
		return atOnce
	}
	if n := during("one of each", 150); n > workers {
		t.Errorf("one fetcher of %d workers had %d requests at a time", workers, n)
	}

	for i := 1; i < 3; i++ {
		f.join()
		f.fetch = append(f.fetch, f.stage("fetcher", fetcherArgs...))
		f.parse = append(f.parse, f.stage("parser"))
		f.write = append(f.write, f.stage("writer", "--out", f.out(), "--state", filepath.Join(f.dir, fmt.Sprint("writer", i)), "--chunk-age", "1s"))
	}
	for _, p := range f.living() {
		before := p.figure(work[p.name])
		eventually(t, time.Minute, "get work", func() (bool, string) {
			return p.figure(work[p.name]) > before, fmt.Sprint(p.name, p.args)
		}, p)
	}
	if n := during("three of each", 300); n <= 2*workers {
		t.Errorf("three fetchers of %d workers had %d requests at a time, want more than two could have", workers, n)
	}

	// The first process of each stage leaves too, so the remaining ones have joined during the
	// crawl.
	f.fronts[0].drain()
	f.fetch[0].kill()
	f.parse[0].drain()
	f.write[0].kill()
	f.fronts[1].kill()
	f.fetch[1].drain()
	f.parse[1].kill()
	f.write[1].drain()
	if left := len(web.pages) - len(web.Requests()); left < 200 {
		t.Errorf("%d pages are left: the web is too small for this test", left)
	}
	during("one of each again", 30) // while the others still wait for the killed processes
	if n := during("one of each again", 100); n > workers {
		t.Errorf("one fetcher of %d workers had %d requests at a time", workers, n)
	}
	f.write, f.fetch, f.parse = f.write[2:], f.fetch[2:], f.parse[2:]
	n := f.end("many", &spec, "complete")
	wantPages(t, records(t, f.out(), "many"), web.pages)
	if n.Pages != int64(len(web.pages)) || n.Pending() != 0 {
		t.Errorf("%d pages counted, want %d: %+v", n.Pages, len(web.pages), n)
	}
}
