package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/run/connect"
	"seine/internal/testing/freeport"
	"seine/internal/testing/testweb"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// locked is a cluster on a locked-down NATS server: each process is a user of its own.
type locked struct {
	*cluster
	port  int
	users string // folder with a subfolder for each user
}

// newLocked sets up and starts the server; change may change its files before the start.
func newLocked(t *testing.T, partitions int, change func(server string)) *locked {
	t.Helper()
	return newLockedBy(t, "", partitions, change)
}

// newLockedBy is newLocked with another build: see process.dir.
func newLockedBy(t *testing.T, build string, partitions int, change func(server string)) *locked {
	t.Helper()
	c := &locked{cluster: &cluster{t: t, dir: t.TempDir(), build: build}, port: freeport.Get(t)}
	bus := c.installation()
	c.users = filepath.Join(bus, "users")
	if err := os.Mkdir(bus, 0o700); err != nil {
		t.Fatal(err)
	}
	site := fmt.Sprintf(`
url: tls://127.0.0.1:%d
listen: 127.0.0.1:%[1]d
hosts: [127.0.0.1]
monitoring: 127.0.0.1:-1
store_dir: %s
partitions: %d
writers: [{name: default, from: records}, {name: archive, from: pages}, {name: results, from: results}]
feeders: [{name: feeder, crawls: [site]}, {name: owner, crawls: [site], spec: true}]
`, c.port, filepath.Join(c.dir, "nats"), partitions)
	if err := os.WriteFile(filepath.Join(bus, "installation.yaml"), []byte(site), 0o600); err != nil {
		t.Fatal(err)
	}
	c.setUp(build)
	if change != nil {
		change(filepath.Join(bus, "server"))
	}
	c.nats = start(t, "nats-server", "-c", filepath.Join(bus, "server", "nats-server.conf"))
	return c
}

// installation returns the folder that natsusers maintains.
func (l *locked) installation() string { return filepath.Join(l.dir, "bus") }

// setUp runs natsusers of a build and returns its output.
func (l *locked) setUp(build string) string {
	l.t.Helper()
	p := (&process{t: l.t, name: "natsusers", dir: build, args: []string{l.installation()}}).begin()
	<-p.gone
	if p.err != nil {
		l.t.Fatal(p.err)
	}
	return p.log.String()
}

// as returns the options that run a command as a user.
func (l *locked) as(user string) []string {
	return []string{"--nats-context", filepath.Join(l.users, user, "context.json")}
}

func (l *locked) stage(name, user string, args ...string) *process {
	return (&process{t: l.t, name: name, dir: l.build, args: append(append(l.as(user), "--listen", "127.0.0.1:0"), args...)}).begin()
}

func (l *locked) frontier(state string) *process {
	return l.stage("frontier", "frontier", "--state", filepath.Join(l.dir, state), "--partitions", "4",
		"--snapshot-every", "1s", "--keep-share", "0", "--keep-age", "0s")
}

func (l *locked) writer(name, from, format string) *process {
	user := "writer-" + name
	if name == "default" {
		user = "writer"
	}
	return l.stage("writer", user, "--name", name, "--from", from, "--format", format, "--chunk-age", "1s",
		"--out", l.outOf(name), "--state", filepath.Join(l.dir, "state-"+name))
}

func (l *locked) outOf(writer string) string {
	if writer == "default" {
		return l.out()
	}
	return filepath.Join(l.dir, "out-"+writer)
}

// dial connects as a user.
func (l *locked) dial(user string) *stages.Bus {
	l.t.Helper()
	o := connect.Options{Context: l.as(user)[1]}
	var bus *stages.Bus
	eventually(l.t, 20*time.Second, "connect to NATS", func() (done bool, saw string) {
		var err error
		if bus, err = o.Dial("test", slog.New(slog.DiscardHandler)); err != nil {
			return false, err.Error()
		}
		return true, ""
	}, l.nats)
	l.t.Cleanup(bus.Close)
	return bus
}

func (l *locked) seine(user string, args ...string) *command {
	l.t.Helper()
	return runSeine(l.t, append(args, l.as(user)...)...)
}

// The complete pipeline works with minimal permissions: large bodies, an archive, results,
// duplicates, dead letters, snapshots, a handover between frontiers, and all operator commands. No
// user can do another's work.
func TestEachRoleCanDoItsWorkAndNothingElse(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 80})
	large := pageOf3MiB(t)
	c := newLocked(t, 4, nil)
	first, second := c.frontier("f1"), c.frontier("f2")
	c.front = second
	c.fetch = []*process{c.stage("fetcher", "fetcher")}
	c.parse = []*process{c.stage("parser", "parser")}
	c.write = []*process{c.writer("default", "records", "jsonl.zst"), c.writer("archive", "pages", "warc.gz"), c.writer("results", "results", "csv")}
	bus := c.dial("operator")
	if err := bus.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
	spec := filepath.Join(c.dir, "spec.yaml")
	if err := os.WriteFile(spec, []byte(`{delay: 20ms, allow_private: true, archive: true, duplicates: {exact: mark, near: mark},
		records: [{kind: none, when: {css: title}, fields: {a: {css: .nosuch, required: true}}}], page: {emit: always}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	wantOutput(t, c.seine("owner", "spec", "apply", spec, "--crawl", "site"), "as revision 1")
	eventually(t, time.Minute, "have all writers read: a page that the parser alone has read is purged", func() (bool, string) {
		archive, results := durables(t, bus, messages.StreamPages), durables(t, bus, messages.StreamResults)
		return len(archive) == 5 && len(results) == 8, fmt.Sprint(archive, results) // including those of the parser and the frontier
	}, c.all()...)
	wantOutput(t, c.seine("feeder", "seed", "--crawl", "site", site.seed, large), "2 URLs were added")
	wantOutput(t, c.seine("operator", "seed", "--crawl", "site", site.seed), "1 URL was added")
	if err := stages.NewPublisher(bus, "test").Publish(t.Context(), &nats.Msg{Subject: messages.SubjectSeeds("site"), Data: []byte("not a URL")}); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "fetch some pages", func() (bool, string) {
		out := c.seine("viewer", "hosts", "--top", "3").stdout.String()
		return strings.Contains(out, "127.0.0.1") || strings.Contains(out, "localhost"), out
	}, c.all()...)
	first.drain() // its partitions move, with a snapshot
	wantOutput(t, c.seine("operator", "pause", "--crawl", "site"), "is paused")
	wantOutput(t, c.seine("operator", "resume", "--crawl", "site"), "is resumed")
	wantOutput(t, c.seine("operator", "seed", "--crawl", "gone", "--new", "http://gone.invalid/"), "1 URL was added")
	wantOutput(t, c.seine("operator", "pause", "--crawl", "gone"), "is paused")
	if out := c.seine("operator", "pause", "--crawl", "gon"); out.code() != 2 || !strings.Contains(out.stderr.String(), "did you mean gone?") {
		t.Errorf("a crawl of another name was paused: %d, %s", out.code(), out.stderr)
	}
	wantOutput(t, c.seine("operator", "delete", "gone", "--yes", "--wait", "30s"), "delet")
	wantOutput(t, c.seine("viewer", "explain", "--brief", "--crawl", "site", site.seed), "state")
	eventually(t, time.Minute, "have the page of the seed", func() (bool, string) {
		out := c.seine("operator", "explain", "--crawl", "site", site.seed).stdout.String()
		return strings.Contains(out, "state") && strings.Contains(out, "PAGES"), out
	}, c.all()...)
	wantOutput(t, c.seine("viewer", "status"), "writer archive", "crawl site")
	wantOutput(t, c.seine("viewer", "spec", "get", "--crawl", "site"), "delay: 20ms")
	c.wantServed(site.seed)
	c.wantWebhooksWithoutRecords(site.seed)
	c.wantReplaysByOperatorAlone()
	c.wantDrainedByOperator(c.stage("fetcher", "fetcher"))
	if out := c.seine("operator", "doctor"); !strings.Contains(out.stdout.String(), "frontier: all 4 have an owner") {
		t.Errorf("doctor: %s%s", out.stdout, out.stderr)
	}
	wantOutput(t, c.seine("admin", "backup", "--to", filepath.Join(c.dir, "backup")), "copied to")
	if out := c.seine("operator", "backup", "--to", filepath.Join(c.dir, "backup-of-operator")); out.code() != 1 || !strings.Contains(out.stderr.String(), "does not let") {
		t.Errorf("an operator copies the cluster: %d, %s%s", out.code(), out.stdout, out.stderr)
	}
	c.redrive(bus)
	pages := c.finish(bus, "site", time.Minute).Pages
	if want := int64(len(site.pages) + 1); pages != want {
		t.Errorf("%d pages, want %d", pages, want)
	}
	c.wantArchived(pages)
	c.wantForbidden()
	for _, p := range append(c.all(), first, c.nats) {
		if said := p.log.String(); strings.Contains(said, "level=ERROR") || strings.Contains(said, "does not let") {
			t.Errorf("%s was refused something: %s", p.name, said)
		}
	}
}

// pageOf3MiB serves a page that goes to the object store.
func pageOf3MiB(t *testing.T) string {
	t.Helper()
	random := make([]byte, 3<<20)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(random)
	var page bytes.Buffer
	fmt.Fprintf(&page, "<title>large</title><p>%s</p>", base64.StdEncoding.EncodeToString(random))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/large" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write(page.Bytes())
	}))
	t.Cleanup(s.Close)
	return s.URL + "/large"
}

// redrive lists the dead letters, shows one, and redrives the seed's, which fails again.
func (l *locked) redrive(bus *stages.Bus) {
	l.t.Helper()
	var seq string
	eventually(l.t, time.Minute, "give up on the seed that is no URL", func() (bool, string) {
		out := l.seine("operator", "dead", "list", "--stage", "frontier")
		lines := strings.Split(strings.TrimSpace(out.stdout.String()), "\n")
		if len(lines) == 2 {
			seq = strings.Fields(lines[1])[0]
		}
		return seq != "", out.stdout.String() + out.stderr.String()
	})
	wantOutput(l.t, l.seine("operator", "dead", "show", seq), "not a URL", "SEEDS")
	wantOutput(l.t, l.seine("operator", "dead", "redrive", seq), "1 message is back")
	eventually(l.t, time.Minute, "fail again", func() (bool, string) {
		out := l.seine("operator", "dead", "list", "--stage", "frontier", "--json").stdout.String()
		return strings.Contains(out, `"redriven":1`), out
	})
	wantOutput(l.t, l.seine("operator", "dead", "drop", "--all", "--stage", "frontier", "--yes"), "1 dead letter was removed")
}

// wantArchived checks that the archive has every page and robots.txt.
func (l *locked) wantArchived(pages int64) {
	l.t.Helper()
	commits, err := readCommits(l.outOf("archive"), "archive")
	var n, answers int64
	for _, commit := range commits {
		for _, f := range commit.Files {
			if f.IndexOf == "" {
				n += int64(f.RecordsOf(messages.KindPage))
				answers += int64(f.RecordsOf(messages.KindAnswer))
			}
		}
	}
	if err != nil || n != pages || answers == 0 {
		l.t.Errorf("%d of %d pages are archived, %d other answers, %v", n, pages, answers, err)
	}
}

// forbidden are refused operations of each role: publishing to a subject or, with "<", subscribing.
var forbidden = map[string][]string{
	"frontier": {
		"seine.pages.site.0", "seine.results.site.0", "seine.records.site.0", "seine.dead.fetcher.site", "seine.seeds.site",
		"$JS.API.STREAM.DELETE.URLS", "$JS.API.STREAM.DELETE.RECORDS", "$JS.API.STREAM.PURGE.KV_seine_robots",
		"$JS.API.CONSUMER.CREATE.PAGES.spy", "$JS.API.CONSUMER.MSG.NEXT.PAGES.parser", "$JS.API.CONSUMER.DELETE.RECORDS.writer-default-0",
		"$KV.seine_robots.x", "$KV.seine_duplicates.x", "$KV.seine_leases.lease.writer-default.0", "$O.seine_bodies.C.x",
		"$SYS.REQ.SERVER.PING", "_INBOX_operator.x", "<$SYS.>", "<_INBOX_operator.>", "<seine.records.>", "<$JS.EVENT.ADVISORY.>",
	},
	"fetcher": {
		"seine.seeded.site.0", "seine.fetch.site.0", "seine.render.site.0", "seine.seeds.site", "seine.dead.parser.site", "seine.frontier.control", "seine.frontier.status.0",
		"$JS.API.CONSUMER.MSG.NEXT.FETCH.renderer",
		"$JS.API.STREAM.DELETE.PAGES", "$JS.API.STREAM.PURGE.RESULTS", "$JS.API.STREAM.PURGE.FETCH", "$JS.API.STREAM.UPDATE.FETCH",
		"$JS.API.DIRECT.GET.PAGES", "$JS.API.STREAM.MSG.GET.PAGES", "$JS.API.CONSUMER.CREATE.RECORDS.spy", "$JS.API.CONSUMER.DELETE.FETCH.fetcher",
		"$JS.ACK.PAGES.parser.1.1.1.1.0", "$KV.seine_leases.lease.frontier.0", "$KV.seine_meta.layout", "$KV.seine_crawls.site",
		"$O.seine_snapshots.M.x", "$JS.API.DIRECT.GET.OBJ_seine_snapshots", "$JS.API.CONSUMER.CREATE.OBJ_seine_bodies.spy",
		"$SYS.REQ.SERVER.PING", "$SRV.INFO", "_INBOX_frontier.x", "<_INBOX_frontier.>", "<_INBOX.>", "<seine.frontier.claim.*", "<seine.frontier.wanted.*", "<seine.pages.>", "<$JS.>", "<>",
	},
	"renderer": {
		"seine.render.site.0", "seine.fetch.site.0", "seine.seeds.site", "seine.dead.fetcher.site", "seine.frontier.control",
		"$JS.API.STREAM.PURGE.FETCH", "$JS.API.STREAM.UPDATE.FETCH", "$JS.API.CONSUMER.MSG.NEXT.FETCH.fetcher", "$JS.ACK.FETCH.fetcher.1.1.1.1.0",
		"$JS.API.CONSUMER.CREATE.FETCH.renderer.seine.fetch.*.*", "$JS.API.CONSUMER.DELETE.FETCH.renderer", "$JS.API.DIRECT.GET.PAGES",
		"$KV.seine_meta.layout", "$KV.seine_crawls.site", "$SRV.INFO", "_INBOX_fetcher.x", "<_INBOX_fetcher.>", "<seine.pages.>", "<seine.inflight.fetcher", "<>",
	},
	"parser": {
		"seine.seeded.site.0", "seine.redirects.site.0", "$O.seine_bodies.M.x", "seine.pages.site.0", "seine.results.site.0", "seine.fetch.site.0", "seine.seeds.site", "seine.dead.fetcher.site", "seine.frontier.claim.0", "seine.frontier.wanted.0",
		"$JS.API.STREAM.DELETE.PAGES", "$JS.API.STREAM.PURGE.PAGES", "$JS.API.STREAM.PURGE.OBJ_seine_bodies", "$JS.API.CONSUMER.DELETE.PAGES.parser",
		"$JS.API.CONSUMER.CREATE.PAGES.writer-archive-0.seine.pages.*.0", "$JS.API.DIRECT.GET.RECORDS", "$KV.seine_robots.x",
		"$KV.seine_leases.lease.writer-default.0", "$KV.seine_crawls.site", "$O.seine_bodies.C.x", "<_INBOX_fetcher.>", "<seine.records.>",
	},
	"writer": {
		"seine.records.site.0", "seine.urls.site.0", "seine.seeds.site", "$JS.API.STREAM.PURGE.RECORDS", "$JS.API.STREAM.DELETE.RECORDS",
		"$JS.API.CONSUMER.MSG.NEXT.PAGES.writer-archive-0", "$JS.API.CONSUMER.RESET.PAGES.writer-archive-0", "$JS.ACK.RESULTS.writer-results-0.1.1.1.1.0",
		"$JS.API.CONSUMER.CREATE.PAGES.spy", "$JS.API.DIRECT.GET.PAGES", "$JS.API.CONSUMER.CREATE.OBJ_seine_bodies.x.$O.seine_bodies.C.x",
		"$KV.seine_leases.lease.writer-archive.0", "$KV.seine_leases.lease.frontier.0", "$KV.seine_crawls.site", "$KV.seine_meta.layout", "<seine.records.>", "<_INBOX_writer-archive.>",
	},
	"writer-archive": {"$JS.API.CONSUMER.MSG.NEXT.RECORDS.writer-default-0", "$KV.seine_leases.lease.writer-default.0", "$JS.API.STREAM.PURGE.OBJ_seine_bodies", "<_INBOX_writer.>"},
	"operator": {
		"seine.dead.parser.site", "$JS.API.STREAM.DELETE.DEAD", "$JS.API.STREAM.PURGE.URLS", "$JS.API.STREAM.MSG.DELETE.RECORDS",
		"$JS.API.CONSUMER.CREATE.DEAD.spy", "$JS.API.STREAM.DELETE.PAGES", "$KV.seine_leases.lease.frontier.0", "$KV.seine_meta.layout",
		"$KV.seine_robots.x", "$O.seine_snapshots.M.x", "$JS.API.STREAM.CREATE.X", "$SYS.REQ.SERVER.PING", "<seine.>", "<_INBOX_viewer.>",
	},
	"viewer": {
		"seine.seeds.site", "seine.frontier.control", "seine.frontier.claim.0", "seine.frontier.wanted.0", "$KV.seine_crawls.site", "$JS.API.CONSUMER.CREATE.DEAD.x.seine.dead.*.*",
		"$JS.API.STREAM.MSG.DELETE.DEAD", "$JS.API.CONSUMER.DELETE.PAGES.parser", "$JS.API.CONSUMER.CREATE.RECORDS.spy", "<seine.records.>", "<_INBOX_operator.>",
	},
	"monitor": {
		"seine.seeds.site", "seine.frontier.control", "seine.frontier.status.0", "$JS.API.DIRECT.GET.RECORDS", "$JS.API.STREAM.MSG.GET.RECORDS",
		"$JS.API.CONSUMER.CREATE.RECORDS.spy", "$JS.API.DIRECT.GET.KV_seine_crawls.$KV.seine_crawls.site", "$JS.API.STREAM.PURGE.RECORDS", "<seine.>",
	},
	"feeder": {
		"seine.seeds.other", "seine.urls.site.0", "seine.frontier.explain.0", "$KV.seine_crawls.site", "$JS.API.DIRECT.GET.KV_seine_crawls.$KV.seine_crawls.site",
		"$JS.API.STREAM.INFO.SEEDS", "$JS.API.STREAM.PURGE.SEEDS", "$SRV.INFO", "<seine.seeds.>", "<_INBOX_operator.>",
	},
	"owner": {"seine.seeds.other", "$KV.seine_crawls.other", "$JS.API.CONSUMER.CREATE.KV_seine_crawls.x.$KV.seine_crawls.other", "$JS.API.STREAM.PURGE.KV_seine_crawls"},
}

// wantForbidden tries all forbidden operations and checks that nothing has changed.
func (l *locked) wantForbidden() {
	l.t.Helper()
	before := l.state()
	for user, operations := range forbidden {
		nc := l.dial(user).NC
		refused := make(chan string, 2*len(operations))
		nc.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err.Error() })
		for _, op := range operations {
			var err error
			if subject, ok := strings.CutPrefix(op, "<"); ok {
				_, err = nc.SubscribeSync(subject)
			} else {
				err = nc.Publish(op, []byte("{}"))
			}
			if err != nil {
				l.t.Fatal(err)
			}
		}
		for _, op := range operations { // the server answers in this order
			want := `"` + strings.TrimPrefix(op, "<") + `"`
			select {
			case got := <-refused:
				if !strings.Contains(got, want) {
					l.t.Fatalf("%s may do %s: next is %s", user, want, got)
				}
			case <-time.After(10 * time.Second):
				l.t.Fatalf("%s may do %s", user, want)
			}
		}
	}
	if after := l.state(); after != before {
		l.t.Errorf("the streams were\n%s\nand are\n%s", before, after)
	}
}

// state returns the contents of all streams, as the admin sees them.
func (l *locked) state() string {
	l.t.Helper()
	var all []string
	bus := l.dial("admin")
	list := bus.JS.ListStreams(l.t.Context())
	for info := range list.Info() {
		st := info.State
		if info.Config.Name == "KV_"+messages.BucketLeases { // markers of ended leases expire
			st.Msgs, st.FirstSeq = 0, 0
		}
		all = append(all, fmt.Sprintf("%s: %d messages, %d to %d, read by %v", info.Config.Name, st.Msgs, st.FirstSeq, st.LastSeq, durables(l.t, bus, info.Config.Name)))
	}
	if err := list.Err(); err != nil || len(all) < 10 {
		l.t.Fatalf("list streams: %v, %q", err, all)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// A stage reports a missing permission within moments, in its log and at /readyz. It keeps its
// messages and resumes once it has the permission.
func TestStageSaysWhatIsRefusedAndLosesNothing(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 20})
	missing := []struct{ user, subject, says string }{
		{"frontier", "seine.fetch.*.*", "seine.fetch.site."},
		{"fetcher", "seine.results.*.*", "seine.results.site."},
		{"parser", "seine.urls.*.*", "seine.urls.site."},
		{"writer", "$KV.seine_leases.lease.writer-default.*", "$KV.seine_leases.lease.writer-default."},
	}
	var conf, whole string
	c := newLocked(t, 4, func(server string) {
		conf = filepath.Join(server, "roles.conf")
		text, err := os.ReadFile(conf)
		if err != nil {
			t.Fatal(err)
		}
		whole = string(text)
	})
	without := func(user, subject string) string {
		before, rest, ok := strings.Cut(whole, "MAY_"+strings.ToUpper(user)+": {")
		block, after, ended := strings.Cut(rest, "\n}\n")
		lacking := strings.Replace(block, fmt.Sprintf("    %q\n", subject), "", 1)
		if !ok || !ended || lacking == block {
			t.Fatalf("%s has no right to %s", user, subject)
		}
		return before + "MAY_" + strings.ToUpper(user) + ": {" + lacking + "\n}\n" + after
	}
	bus := c.dial("operator")
	allow := func(text string) {
		if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c.reload()
		eventually(t, 20*time.Second, "connect again", func() (bool, string) { return bus.NC.IsConnected(), "" }, c.nats)
	}
	allow(without(missing[0].user, missing[0].subject))
	c.front = c.frontier("f1")
	c.fetch = []*process{c.stage("fetcher", "fetcher")}
	c.parse = []*process{c.stage("parser", "parser")}
	if err := bus.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.begin(bus, "site", quick(), site.seed)
	for i, m := range missing {
		if i > 0 {
			allow(without(m.user, m.subject))
		}
		p := map[string]*process{"frontier": c.front, "fetcher": c.fetch[0], "parser": c.parse[0]}[m.user]
		if p == nil {
			p = c.writer("default", "records", "jsonl.zst")
			c.write = []*process{p}
		}
		eventually(t, 20*time.Second, "say what is refused", func() (bool, string) {
			said, ready := p.log.String(), p.ready()
			return strings.Contains(said, "level=ERROR") && strings.Contains(said, "does not let user "+m.user+" (NKEY U") && strings.Contains(said, m.says) &&
				strings.Contains(ready, "503") && strings.Contains(ready, m.says), ready
		}, p)
		if i+1 < len(missing) {
			allow(without(missing[i+1].user, missing[i+1].subject))
		}
	}
	allow(whole)
	eventually(t, time.Minute, "have the frontier make the consumers of the writer", func() (bool, string) {
		have := durables(t, bus, messages.StreamRecords)
		return len(have) == 4, fmt.Sprint(have)
	}, c.write...)
	c.finish(bus, "site", time.Minute)
	wantPages(t, records(t, c.out(), "site"), site.pages)
}

// reload makes the server reload its configuration, as `nats-server --signal reload` does.
func (l *locked) reload() {
	l.t.Helper()
	const done = "Reloaded server configuration"
	before := strings.Count(l.nats.log.String(), done)
	l.nats.signal(syscall.SIGHUP)
	eventually(l.t, 20*time.Second, "take up the configuration", func() (bool, string) {
		select {
		case <-l.nats.gone: // a supervisor would restart it: see docs/guides/secure.md
			if !strings.Contains(l.nats.log.String(), "addShadowSub") {
				l.t.Fatalf("nats-server has ended: %v", l.nats.err)
			}
			l.nats.start()
			return true, ""
		default:
		}
		return strings.Count(l.nats.log.String(), done) > before, ""
	})
}

// ready returns the readiness of a stage.
func (p *process) ready() string {
	p.t.Helper()
	return readyAt(p.address())
}

// readyAt returns the readiness of the process at an address.
func readyAt(addr string) string {
	resp, err := http.Get("http://" + addr + "/readyz")
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.Status + ": " + string(b)
}
