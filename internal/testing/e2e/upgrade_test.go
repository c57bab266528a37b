package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/writer"
)

// earlierBuild is the folder of the commands of an earlier build. scripts/upgrade makes it.
func earlierBuild(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("E2E_UPGRADE_FROM")
	if dir == "" {
		t.Skip("it needs the commands of an earlier build: make upgrade")
	}
	return dir
}

// Ways in which a process is replaced.
const (
	byDrain = false
	byKill  = true
)

// A crawl by an earlier build is gone on with by this one, by the earlier again, and by this one to its end. Processes are
// replaced one by one, so that all of both builds work together; in the documented order, in its reverse, and each
// kind mixed with every other, by kill -9. Every page is in the output and in the archive once, and hosts see nothing of it.
func TestUpgradeInMidCrawl(t *testing.T) {
	old := earlierBuild(t)
	for name, tt := range map[string]struct {
		order func(*upgrade) []*process
		how   bool
	}{
		"frontiers first": {func(u *upgrade) []*process { return slices.Concat(u.fronts, u.fetch, u.parse, u.write) }, byDrain},
		"writers first":   {func(u *upgrade) []*process { return slices.Concat(u.write, u.parse, u.fetch, u.fronts) }, byDrain},
		"killed and one of each kind first": {func(u *upgrade) []*process {
			return []*process{
				u.fetch[0], u.fronts[0], u.write[0], u.parse[0], u.write[2],
				u.write[3], u.parse[1], u.write[1], u.fetch[1], u.fronts[1],
			}
		}, byKill},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUpgrade(t, old, tt.how)
			u.begin()
			u.replace(bin, tt.order(u))
			u.more(t, 300, u.living()...)
			u.seineOf(bin, "spec", "apply", file(t, "later.yaml", upgradeSpec+"max_depth: 1000\n"), "--crawl", upgradeCrawl)
			u.replace(old, tt.order(u))
			u.more(t, 300, u.living()...)
			u.replace(bin, tt.order(u))
			u.wantLeft(t)
			u.wantGaps(t, upgradeDelay)
			u.seineOf(bin, "spec", "apply", file(t, "haste.yaml", hasteSpec), "--crawl", upgradeCrawl)
			u.end()
		})
	}
}

const (
	upgradeCrawl = "many"
	upgradeDelay = time.Second
	upgradeSpec  = "delay: 1s\nallow_private: true\narchive: true\n"
	// hasteSpec is upgradeSpec for the rest, when nothing is replaced any more.
	hasteSpec = "delay: 50ms\nallow_private: true\narchive: true\n"
)

// upgrade is a crawl whose processes are replaced by those of another build.
type upgrade struct {
	*fleet
	*manyHosts
	old string // folder of the earlier build
	how bool   // in which processes are replaced
	cut int    // requests that were under way when a process was killed, at most
}

// newUpgrade starts two processes of each stage, and two that write an archive, of the earlier build.
func newUpgrade(t *testing.T, old string, how bool) *upgrade {
	t.Helper()
	u := &upgrade{old: old, how: how}
	u.manyHosts = serveHosts(t, testweb.Config{Hosts: 32, PagesPerHost: 400, LinksPerPage: 8, CrossHostLinks: 0.2, PageBytes: 4 << 10})
	u.fleet = newFleet(t, 2, shape{build: old, fetchers: 2, parsers: 2, writers: 2, writerAge: "3s"})
	for i := range 2 {
		u.write = append(u.write, u.stage("writer", "--name", "archive", "--from", "pages", "--format", "warc.gz", "--chunk-age", "3s",
			"--out", u.archive(), "--state", filepath.Join(u.dir, fmt.Sprint("archive", i))))
	}
	return u
}

func (u *upgrade) archive() string { return filepath.Join(u.dir, "warc") }

// seineOf runs seine of a build on the cluster, and returns what it prints.
func (u *upgrade) seineOf(build string, args ...string) string {
	u.t.Helper()
	return seineUntil(u.t, build, append(args, "--nats", u.url)...)
}

// seineUntil runs seine of a build until it succeeds, as a person would beside a busy server, and returns what it prints.
func seineUntil(t *testing.T, build string, args ...string) (printed string) {
	t.Helper()
	eventually(t, time.Minute, fmt.Sprintf("%v", args), func() (bool, string) {
		c := seineOf(t, build, "", nil, args...)
		<-c.gone
		printed = c.stdout.String()
		return c.code() == 0, c.said()
	})
	return printed
}

// begin has the earlier build begin the crawl, once all that read are there: what nobody will read is not kept.
func (u *upgrade) begin() {
	u.t.Helper()
	wantReaders(u.t, u.fleet.bus, 2*messages.DefaultPartitions, u.living()...)
	u.seineOf(u.old, "spec", "apply", file(u.t, "spec.yaml", upgradeSpec), "--crawl", upgradeCrawl)
	u.seineOf(u.old, "seed", "--crawl", upgradeCrawl, "--file", file(u.t, "seeds.txt", strings.Join(seedsOf(u.server, u.Hosts()), "\n")))
	u.more(u.t, 200, u.living()...)
}

// wantReaders waits until writers have so many consumers.
func wantReaders(t *testing.T, bus *stages.Bus, want int, running ...*process) {
	t.Helper()
	eventually(t, 2*time.Minute, "have all writers read", func() (bool, string) {
		n := 0
		for _, stream := range []string{messages.StreamPages, messages.StreamRecords} {
			all, err := bus.Consumers(t.Context(), stream)
			if err != nil {
				return false, err.Error()
			}
			for _, c := range all {
				if strings.HasPrefix(c.Config.Durable, messages.ConsumerWriter+"-") {
					n++
				}
			}
		}
		return n == want, fmt.Sprint(n)
	}, running...)
}

// more waits until the hosts were asked for n more pages.
func (w *manyHosts) more(t *testing.T, n int, running ...*process) {
	t.Helper()
	n += w.served()
	eventually(t, 2*time.Minute, "fetch more pages", func() (bool, string) { return w.served() >= n, fmt.Sprint(w.served(), " of ", n) }, running...)
}

// served is how many requests there were.
func (w *manyHosts) served() (n int) {
	w.Log().Select(func(*testweb.Request) bool { n++; return false })
	return n
}

// replace has processes go on as those of another build, one after the other, while the crawl goes on.
func (u *upgrade) replace(build string, order []*process) {
	u.t.Helper()
	for i, p := range order {
		began := time.Now()
		u.stop(p)
		p.dir = build
		if build == u.old && p == u.fronts[1] && !u.how { // its partitions are with the other, and in snapshots
			if err := os.RemoveAll(state(p)); err != nil {
				u.t.Fatal(err)
			}
		}
		p.start()
		eventually(u.t, time.Minute, "be ready", func() (bool, string) { r := p.ready(); return strings.HasPrefix(r, "200"), r }, u.living()...)
		u.more(u.t, 40, u.living()...)
		u.t.Logf("%s %s becomes %s: in %s", u.at(began), p.name, u.builds()[build], time.Since(began).Round(time.Millisecond))
		for dir, name := range u.builds() {
			if i != len(order)/2 {
				break
			}
			if out := u.seineOf(dir, "status", "--crawl", upgradeCrawl); !strings.Contains(out, upgradeCrawl) {
				u.t.Errorf("status by the %s build: %s", name, out)
			}
		}
	}
}

// builds are the names of both builds, by their folders.
func (u *upgrade) builds() map[string]string { return map[string]string{u.old: "old", bin: "new"} }

// stop ends a process, as an upgrade does or as a crash does.
func (u *upgrade) stop(p *process) {
	u.t.Helper()
	if u.how == byDrain {
		p.drain()
		return
	}
	u.cut += u.Hosts() // with a delay, each host has one
	p.kill()
}

// end waits for the end of the crawl, and checks all that came of it.
func (u *upgrade) end() {
	u.t.Helper()
	t := u.t
	n := u.complete(u.fleet.bus, upgradeCrawl, 10*time.Minute)
	wantArchivedPages(t, u.archive(), n.Pages, u.living()...)
	if n = u.fleet.end(upgradeCrawl, new(crawlspec.Spec), frontierapi.Complete); n.Pages != int64(len(u.pages)) || n.Pending() != 0 {
		t.Errorf("%d pages counted, want %d: %+v", n.Pages, len(u.pages), n)
	}
	wantPages(t, records(t, u.out(), upgradeCrawl), u.pages)
	archived := slices.Sorted(maps.Keys(archiveOf(t, u.archive()).pages))
	if !slices.Equal(archived, slices.Sorted(slices.Values(u.pages))) {
		t.Errorf("the archive has %d other pages, want %d", len(archived), len(u.pages))
	}
	repeated, which := u.repeats()
	if repeated > u.cut {
		t.Errorf("%d pages were fetched again, more than the %d that can have been under way: %q", repeated, u.cut, which)
	}
	wantNoDeadLetters(t, u.fleet.bus)
	for build, name := range u.builds() {
		for _, out := range []string{u.out(), u.archive()} {
			verify := seineOf(t, build, "", nil, "verify", out)
			verify.expect(0)
			t.Logf("verify by the %s build: %s", name, strings.TrimSpace(verify.stdout.String()))
		}
	}
	t.Logf("%d requests, %d fetched again", len(u.Requests()), repeated)
}

// wantArchivedPages waits until the archive has so many pages.
func wantArchivedPages(t *testing.T, dir string, want int64, running ...*process) {
	t.Helper()
	eventually(t, time.Minute, "archive every page", func() (bool, string) {
		commits, err := writer.ReadCommits(dir, "archive")
		var n int64
		for _, c := range commits {
			for _, f := range c.Files {
				if f.IndexOf == "" {
					n += int64(f.RecordsOf(messages.KindPage))
				}
			}
		}
		return err == nil && n >= want, fmt.Sprintf("%d of %d pages, %v", n, want, err)
	}, running...)
}

// wantNoDeadLetters checks that there never was one.
func wantNoDeadLetters(t *testing.T, bus *stages.Bus) {
	t.Helper()
	var s jetstream.Stream
	eventually(t, 20*time.Second, "look at DEAD", func() (done bool, saw string) {
		var err error
		s, err = bus.JS.Stream(t.Context(), messages.StreamDead)
		return err == nil, fmt.Sprint(err)
	})
	if n := s.CachedInfo().State.LastSeq; n != 0 {
		t.Errorf("there were %d dead letters", n)
	}
}

// A crawl on one machine is killed and interrupted, and each time gone on with by the other build: files, an archive and a
// log of requests; and tables.
func TestUpgradeOfACrawlOnOneMachine(t *testing.T) {
	old := earlierBuild(t)
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		p := newWorkspace(t)
		warc, requests := filepath.Join(t.TempDir(), "warc"), filepath.Join(t.TempDir(), "requests")
		pages := crawlByTurns(t, p, old, "--warc", warc, "--log-requests", requests)
		wantPages(t, records(t, p.out, "default"), pages)
		for _, build := range []string{old, bin} {
			for _, out := range []string{p.out, warc, requests} {
				seineOf(t, build, "", nil, "verify", out).expect(0)
			}
		}
		archived := slices.Sorted(maps.Keys(archiveOf(t, warc).pages))
		if !slices.Equal(archived, slices.Sorted(slices.Values(pages))) {
			t.Errorf("the archive has %d other pages, want %d", len(archived), len(pages))
		}
	})
	t.Run("tables", func(t *testing.T) {
		t.Parallel()
		p := newWorkspace(t)
		p.out = "sqlite:" + p.out + ".db"
		pages := crawlByTurns(t, p, old, "--log-requests", p.out)
		for query, want := range map[string]int{
			"SELECT count(*) FROM pages":                                     len(pages),
			"SELECT count(*) FROM events WHERE class IS NULL":                len(pages),
			"SELECT count(DISTINCT url) FROM events WHERE class = 'ok'":      len(pages),
			"SELECT pages FROM runs WHERE ended IS NOT NULL AND new = pages": len(pages),
		} {
			if n := askSQLite(t, strings.TrimPrefix(p.out, "sqlite:"), query); n != int64(want) {
				t.Errorf("%s: %d, want %d", query, n, want)
			}
		}
	})
}

// crawlByTurns crawls a site by one build after the other, and returns the pages that there are.
func crawlByTurns(t *testing.T, p workspace, old string, more ...string) (pages []string) {
	t.Helper()
	site, web := testSite(t, testweb.Config{PagesPerHost: 1500, Latency: 60 * time.Millisecond, PageBytes: 4 << 10})
	turns := []string{old, bin, old, bin, old, bin}
	for i, build := range turns {
		c := seineOf(t, build, "", nil, append([]string{"crawl", site.seed, "--data", p.data, "--out", p.out, "--allow-private",
			"--delay", "0s", "--per-host", "16", "--quiet", "--json"}, more...)...)
		if i == len(turns)-1 {
			c.within(2*time.Minute, 0)
			break
		}
		target := (i + 1) * len(site.pages) / (len(turns) + 1)
		eventually(t, patience, "fetch pages", func() (bool, string) { return len(web.Requests()) >= target || c.ended(), c.said() })
		how, code := os.Signal(syscall.SIGKILL), -1
		if i%2 == 1 {
			how, code = syscall.SIGINT, 4
		}
		c.signal(how)
		c.expect(code)
	}
	return site.pages
}

// A locked server of the earlier build gets the permissions of this one while its stages work; then they are replaced, one by
// one, and brought back, with the permissions that there are.
func TestUpgradeOfALockedServer(t *testing.T) {
	old := earlierBuild(t)
	t.Parallel()
	web := serveHosts(t, testweb.Config{Hosts: 32, PagesPerHost: 200, LinksPerPage: 8, CrossHostLinks: 0.2, PageBytes: 4 << 10})
	c := newLockedBy(t, old, 4, nil)
	c.front = c.frontier("f1")
	c.fetch = []*process{c.stage("fetcher", "fetcher")}
	c.parse = []*process{c.stage("parser", "parser")}
	c.write = []*process{c.writer("default", "records", "jsonl.zst"), c.writer("archive", "pages", "warc.gz")}
	bus := c.dial("operator")
	if err := bus.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantReaders(t, bus, 8, c.all()...)
	seine := func(build, user string, args ...string) {
		t.Helper()
		seineUntil(t, build, append(args, c.as(user)...)...)
	}
	seine(old, "owner", "spec", "apply", file(t, "spec.yaml", upgradeSpec), "--crawl", "site")
	seine(old, "feeder", append([]string{"seed", "--crawl", "site"}, seedsOf(web.server, web.Hosts())...)...)
	web.more(t, 100, c.all()...)
	t.Logf("natsusers of this build: %s", c.setUp(""))
	c.reload()
	web.more(t, 100, c.all()...)
	for _, build := range []string{bin, old, bin} {
		for _, p := range c.all() {
			p.drain()
			p.dir = build
			p.start()
			eventually(t, time.Minute, "be ready", func() (bool, string) { r := p.ready(); return strings.HasPrefix(r, "200"), r }, c.all()...)
			web.more(t, 40, c.all()...)
		}
		for _, by := range []string{old, bin} {
			seine(by, "viewer", "status", "--crawl", "site")
			seine(by, "operator", "explain", "--brief", "--crawl", "site", web.server.URL(0, "/"))
		}
	}
	web.wantLeft(t)
	web.wantGaps(t, upgradeDelay)
	seine(bin, "owner", "spec", "apply", file(t, "haste.yaml", hasteSpec), "--crawl", "site")
	n := c.complete(bus, "site", 3*time.Minute)
	wantArchivedPages(t, c.outOf("archive"), n.Pages, c.all()...)
	wantNoDeadLetters(t, bus)
	c.finish(bus, "site", time.Minute)
	wantPages(t, records(t, c.out(), "site"), web.pages)
	if got := len(archiveOf(t, c.outOf("archive")).pages); got != len(web.pages) {
		t.Errorf("the archive has %d pages, want %d", got, len(web.pages))
	}
	if repeats, which := web.repeats(); repeats > 0 {
		t.Errorf("%d pages were fetched twice: %q", repeats, which)
	}
}

// wantLeft checks that there are pages yet that nobody has asked for.
func (w *manyHosts) wantLeft(t *testing.T) {
	t.Helper()
	if n := w.served(); n > len(w.pages)*19/20 {
		t.Errorf("%d of %d pages were fetched before the last process was replaced: the web is too small for this test", n, len(w.pages))
	}
}

// wantGaps checks that no host was asked again before the delay had passed.
func (w *manyHosts) wantGaps(t *testing.T, delay time.Duration) {
	t.Helper()
	for h := range w.Hosts() {
		if gap := w.MinGap(h); gap < delay {
			t.Errorf("%s was asked again after %v, want at least %v", w.Name(h), gap, delay)
		}
	}
}
