package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"seine/internal/ops/overview"
	"seine/internal/testing/testweb"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// galaxy is a spec that no build can use, as written around the commands.
const galaxy = `{"v":1,"scope":"galaxy"}`

// storeText stores any text as the spec of a crawl, as `nats kv put` does.
func storeText(t *testing.T, bus *stages.Bus, crawl, text string) {
	t.Helper()
	kv, err := bus.Bucket(t.Context(), messages.BucketCrawls)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Put(t.Context(), crawl, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// A crawl whose only spec is unusable does nothing and reports why, while another crawl completes.
// With a usable spec it completes.
func TestCrawlWithoutAUsableSpecStandsStillUntilItHasOne(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 30})
	other, _ := testSite(t, testweb.Config{PagesPerHost: 30})
	c := newCluster(t, shape{})
	bus := c.bus()
	seine := func(args ...string) *command { return runSeine(t, append(args, "--nats", c.url)...) }
	storeText(t, bus, "still", galaxy)
	publishSeeds(t, bus, "still", site.seed)

	var stands overview.Crawl
	eventually(t, time.Minute, "queue the seed of the crawl that stands still", func() (bool, string) {
		out := seine("status", "--crawl", "still", "--json", "--every", "100ms")
		var o overview.Overview
		if err := json.Unmarshal([]byte(out.stdout.String()), &o); err != nil || len(o.Crawls) != 1 {
			return false, out.said()
		}
		stands = o.Crawls[0]
		return stands.Queued == 1, out.said()
	}, c.all()...)
	if !stands.Stalled || !strings.Contains(stands.Unusable, "galaxy") || stands.End != "" {
		t.Errorf("its status is %+v", stands)
	}
	wantOutput(t, seine("status", "--crawl", "still", "--every", "100ms"), "crawl still: blocked", "galaxy", "nothing is sent until another is stored")
	get := seine("spec", "get", "--crawl", "still")
	if get.code() != 2 || get.stdout.String() != "" {
		t.Errorf("spec get ends with %d: %s", get.code(), get.said())
	}
	get.complains("galaxy", "nothing is sent until another is stored")

	c.begin(bus, "other", quick(), other.seed)
	c.complete(bus, "other", time.Minute)
	if seen := web.Requests(); len(seen) > 0 {
		t.Errorf("of the crawl that stands still there were %d requests, the first for %s", len(seen), seen[0].Path)
	}

	text := file(t, "spec.yaml", "delay: 0s\nper_host: 16\nallow_private: true\n")
	wantOutput(t, seine("spec", "apply", text, "--crawl", "still"), "as revision")
	c.finish(bus, "still", time.Minute)
	wantPages(t, records(t, c.out(), "still"), site.pages)
	wantPages(t, records(t, c.out(), "other"), other.pages)
}

// `seine crawl` does not replace an unusable spec with its defaults: it reports the problem and
// exits. With --spec it crawls.
func TestCrawlCommandReplacesNoSpecThatItCannotUse(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 10})
	p := newWorkspace(t)
	g := newGate(t, web, "/gate")
	held := strings.TrimSuffix(site.seed, "/") + "/gate"
	first := p.crawl(held)
	g.wait(t)
	bus := dialCrawl(t, p)
	storeText(t, bus, "still", galaxy)
	g.open()
	first.expect(0)

	asked := len(web.Requests())
	refused := p.crawl("--crawl", "still", site.seed)
	refused.expect(1)
	refused.complains("crawl still", "is blocked", "galaxy", "--spec")
	if n := len(web.Requests()); n > asked {
		t.Errorf("it sent %d requests", n-asked)
	}
	stored := runSeine(t, "spec", "get", "--crawl", "still", "--data", p.data)
	if stored.code() != 2 {
		t.Errorf("spec get ends with %d: %s", stored.code(), stored.said())
	}
	stored.complains("galaxy")
	spec := file(t, "spec.yaml", "delay: 0s\nallow_private: true\n")
	seine(t, "", "crawl", "--crawl", "still", "--spec", spec, "--data", p.data, "--out", p.out, "--quiet", "--json", site.seed).expect(0)
	wantPages(t, records(t, p.out, "still"), site.pages)
}
