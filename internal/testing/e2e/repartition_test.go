package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

// A crawl begins with 16 partitions, goes on with 64, and ends with 8. Each change of the number
// is killed ten times at moments of chance. Every page is in the output once, and no host sees a
// page twice.
func TestRepartitionInMidCrawl(t *testing.T) {
	t.Parallel()
	const hosts = 24
	web := serveHosts(t, testweb.Config{Hosts: hosts, PagesPerHost: 40, LinksPerPage: 8, CrossHostLinks: 0.2, PageBytes: 4 << 10, Latency: 5 * time.Millisecond})
	c := newCluster(t, shape{frontierArgs: []string{"--snapshot-every", "1s"}, writerAge: "500ms"})
	bus := c.bus()
	spec := crawlspec.Default()
	spec.Delay, spec.PerHost, spec.AllowPrivate, spec.MaxPages = 0, 2, true, 1<<20
	c.begin(bus, "many", &spec, seedsOf(web.server, hosts)...)
	seed := uint64(time.Now().UnixNano())
	t.Logf("random seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for i, to := range []int{64, 8} {
		eventually(t, time.Minute, "fetch a third of the pages", func() (bool, string) {
			return len(web.Requests()) > (i+1)*len(web.pages)/3, fmt.Sprint(len(web.Requests()))
		}, c.all()...)
		c.repartition(rng, to)
	}
	client := frontierapi.Client{Bus: c.bus()}
	n := c.finish(client.Bus, "many", 2*time.Minute)
	wantPages(t, records(t, c.out(), "many"), web.pages)
	if repeats, which := web.repeats(); repeats > 0 {
		t.Errorf("%d pages were fetched twice: %q", repeats, which)
	}
	if n.Pages != int64(len(web.pages)) || n.Pending() != 0 {
		t.Errorf("%d pages counted, want %d: %+v", n.Pages, len(web.pages), n)
	}
	wantOutput(t, runSeine(t, "verify", c.out()))
}

// repartition pauses the crawl, stops everything, changes the number of partitions, and starts
// everything again.
func (c *cluster) repartition(rng *rand.Rand, to int) {
	c.t.Helper()
	number := fmt.Sprint(to)
	wantOutput(c.t, runSeine(c.t, "pause", "--crawl", "many", "--nats", c.url))
	var told string
	eventually(c.t, time.Minute, "have nothing under way", func() (bool, string) {
		out := runSeine(c.t, "repartition", "--to", number, "--dry-run", "--json", "--nats", c.url, "--state", filepath.Join(c.dir, "dry"))
		var report struct{ Blockers []string }
		if err := json.Unmarshal([]byte(out.stdout.String()), &report); err != nil {
			return false, out.said()
		}
		left := slices.DeleteFunc(report.Blockers, func(text string) bool {
			return strings.Contains(text, "is running") || strings.Contains(text, "owns")
		})
		told = out.stdout.String()
		return len(left) == 0, strings.Join(left, "; ")
	}, c.all()...)
	c.t.Logf("dry run: %s", told)
	for _, p := range c.all() {
		p.drain()
	}
	dir := filepath.Join(c.dir, "work")
	args := []string{"repartition", "--to", number, "--nats", c.url, "--state", dir}
	kills := 0
	for range 10 {
		p := start(c.t, "seine", args...)
		select {
		case <-p.gone:
		case <-time.After(time.Duration(50+rng.IntN(1000)) * time.Millisecond): // a moment of chance
			p.kill()
			kills++
		}
	}
	began := time.Now()
	out := runSeine(c.t, args...)
	wantOutput(c.t, out, "partitions")
	c.t.Logf("to %d: killed %d times, then done in %s:\n%s", to, kills, time.Since(began).Round(time.Millisecond), out.stdout.String())
	for i, arg := range c.front.args {
		if arg == "--partitions" {
			c.front.args = slices.Delete(slices.Clone(c.front.args), i, i+2)
			break
		}
	}
	c.front.args = append(slices.Clone(c.front.args), "--partitions", number)
	for _, p := range c.all() {
		p.start()
	}
	eventually(c.t, time.Minute, "let the crawl go on", func() (bool, string) {
		out := runSeine(c.t, "resume", "--crawl", "many", "--nats", c.url)
		return out.code() == 0, out.said()
	}, c.all()...)
}
