package pages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seine/internal/ops/overview"
	"seine/internal/render"
	"seine/internal/run/connect"
	"seine/internal/run/crawl"
	"seine/internal/run/specfile"
	"seine/internal/serve"
	"seine/internal/serve/api"
	"seine/internal/serve/audit"
	"seine/internal/serve/cluster"
	"seine/internal/serve/figures"
	"seine/internal/serve/replays"
	"seine/internal/serve/scrape"
	"seine/internal/serve/snapshots"
	"seine/internal/testing/await"
	"seine/internal/testing/browser"
	"seine/internal/testing/natstest"
	"seine/internal/testing/slow"
	"seine/internal/testing/stagestest"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// fixture is a NATS server with Seine's streams, and the pages about it on a loopback port.
type fixture struct {
	t      *testing.T
	broker *natstest.Broker
	bus    *stages.Bus
	feed   *snapshots.Feed
	url    string // of the pages

	letters int // number of dead letters that the test has added
}

// newFixture starts a fixture without crawls and processes. It serves the pages as `seine serve`
// does.
func newFixture(t *testing.T, edit ...func(*serve.Options)) *fixture {
	t.Helper()
	broker, bus := stagestest.Open(t)
	said := new(await.Log)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the server:\n%s", said)
		}
	})
	log := said.Logger()
	looked := cluster.New(connect.Operator{Options: connect.Options{NATS: broker.URL()}}, log)
	t.Cleanup(looked.Close)
	c := &fixture{t: t, broker: broker, bus: bus, feed: snapshots.New(looked, log)}
	drawn := figures.New(filepath.Join(t.TempDir(), "figures"), log)
	c.feed.Each = drawn.Observe
	written, err := audit.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = written.Close() })
	o := serve.Options{Listen: "127.0.0.1:0", Rate: serve.DefaultRate, Audit: written, Log: log, MCP: http.NotFoundHandler()}
	for _, e := range edit {
		e(&o)
	}
	scraper, err := scrape.New("", render.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(scraper.Close)
	again, err := replays.New(filepath.Join(t.TempDir(), "replays"), filepath.Join(t.TempDir(), "replayed"), looked, log)
	if err != nil {
		t.Fatal(err)
	}
	again.Off = o.ReadOnly
	a := api.New(api.Options{Cluster: looked, Feed: c.feed, Scraper: scraper, Replays: again, Audit: written, AllowPrivate: true, ReadOnly: o.ReadOnly, PathPrefix: o.PathPrefix, Log: log})
	o.API, o.Harmless = a, append(a.Harmless(), Harmless...)
	o.Style = StyleSheet()
	o.Pages = New(Deps{Cluster: looked, Feed: c.feed, Figures: drawn, API: a, Prefix: o.PathPrefix, ReadOnly: o.ReadOnly, Log: log})
	l, err := o.Open()
	if err != nil {
		t.Fatal(err)
	}
	c.url = strings.TrimSuffix(o.URL(l), "/")
	await.Start(t, func(ctx context.Context) error { c.feed.Run(ctx); return nil })
	await.Start(t, func(ctx context.Context) error { again.Run(ctx); return nil })
	await.Start(t, func(ctx context.Context) error { return serve.Serve(ctx, &o, l) })
	await.Eventually(t, "look at the cluster", func() bool { return c.overview() != nil })
	return c
}

// overview returns the last overview of the pages and requests a new one for later calls.
func (c *fixture) overview() *overview.Overview {
	c.feed.Refresh()
	if s := c.feed.Last(); s != nil {
		return s.Overview
	}
	return nil
}

// crawl runs a crawl until the end of the test.
func (c *fixture) crawl(name, spec string, seeds ...string) {
	c.t.Helper()
	dir := c.t.TempDir()
	o := crawl.DefaultOptions(name, dir)
	o.NATS, o.Chain = connect.Options{NATS: c.broker.URL()}, true
	o.Spec = func(crawlspec.Spec) (*crawlspec.Spec, error) {
		return specfile.Load("spec", []byte("allow_private: true\nschedule: \"@every 720h\"\n"+spec))
	}
	o.Frontier.Partitions = 4
	o.Writer.Out, o.Writer.ChunkAge = filepath.Join(dir, "out"), crawlspec.Duration(100*time.Millisecond)
	for _, url := range seeds {
		o.Seeds = append(o.Seeds, messages.Seed{URL: url})
	}
	await.Start(c.t, func(ctx context.Context) error {
		_, err := crawl.Run(ctx, o)
		if ctx.Err() == nil && err != nil {
			c.t.Errorf("crawl %s: %v", name, err)
		}
		return nil
	})
}

// add adds a crawl to the processes of a running one.
func (c *fixture) add(name, spec string, seeds ...string) {
	c.t.Helper()
	parsed, err := specfile.Load("spec", []byte("allow_private: true\n"+spec))
	if err != nil {
		c.t.Fatal(err)
	}
	specs, err := stages.OpenSpecs(c.t.Context(), c.bus)
	if err == nil {
		_, err = specs.Put(c.t.Context(), name, parsed)
	}
	if err == nil {
		_, err = c.bus.JS.Publish(c.t.Context(), messages.SubjectSeeds(name), []byte(strings.Join(seeds, "\n")))
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// replay starts a replay of stored pages or records.
func (c *fixture) replay(crawl string, form url.Values) {
	c.t.Helper()
	resp, err := http.PostForm(c.url+"/crawls/"+crawl+"/replay", form)
	if err != nil {
		c.t.Fatal(err)
	}
	_ = resp.Body.Close()
	c.until("/crawls/"+crawl+"/replay", "complete")
}

// site serves a site with some missing pages and some that fail at first.
func site(t *testing.T, pages int) (*testweb.Web, string) {
	t.Helper()
	web := testweb.New(testweb.Config{Seed: 7, PagesPerHost: pages, MissingRate: 0.2, PageBytes: 2048})
	srv := testweb.Run(t, web)
	return web, "http://" + srv.Addr()
}

// get requests a page without a browser.
func (c *fixture) get(path string) (status int, text string) {
	c.t.Helper()
	resp, err := http.Get(c.url + path)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// says checks the text of a page without a browser.
func (c *fixture) says(path string, want ...string) {
	c.t.Helper()
	status, text := c.get(path)
	for _, w := range want {
		if !strings.Contains(text, w) {
			c.t.Errorf("%s: %d, without %q:\n%s", path, status, w, text)
		}
	}
}

// until waits until a page contains a text. It makes the pages refresh meanwhile.
func (c *fixture) until(path, want string) {
	c.t.Helper()
	text := ""
	defer func() {
		if c.t.Failed() {
			c.t.Logf("%s:\n%s", path, text)
		}
	}()
	await.Eventually(c.t, path+" says "+want, func() bool {
		c.feed.Refresh()
		_, text = c.get(path)
		return strings.Contains(text, want)
	})
}

// tab opens a tab in a new browser. `make check` skips tests with one, as all tests of complete
// processes.
func (c *fixture) tab() *browser.Tab {
	c.t.Helper()
	slow.Skip(c.t)
	return browser.Start(c.t).Open()
}

func sha256Of(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
