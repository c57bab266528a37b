package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"seine/internal/run/connect"
	"seine/internal/run/replay"
	"seine/internal/testing/natstest"
	"seine/internal/testing/testweb"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// replayPages returns the number of stored pages to parse again. Set SEINE_REPLAY_PAGES=10000 to
// run it by hand with more.
func replayPages(t *testing.T) int {
	t.Helper()
	text := os.Getenv("SEINE_REPLAY_PAGES")
	if text == "" {
		return 1000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 100 {
		t.Fatalf("SEINE_REPLAY_PAGES=%s: must be a number from 100", text)
	}
	return n
}

// changedSpec differs from the crawl's spec: a rule makes a record of each page.
const changedSpec = `
page: {emit: never}
records:
  - kind: heading
    match: "*"
    fields:
      head: {css: h1, required: true}
      title: title
`

// While a crawl runs, all its stored pages are parsed again with another spec: each once, without
// requests and without any effect on the crawl.
func TestStoredPagesAreParsedAgainWhileTheCrawlRuns(t *testing.T) {
	stored := replayPages(t)
	site, web := testSite(t, testweb.Config{PagesPerHost: stored + stored/2, Latency: 15 * time.Millisecond})
	g, held := newGate(t, web, "/gate"), strings.TrimSuffix(site.seed, "/")+"/gate" // the crawl cannot end before the gate is opened
	p := newWorkspace(t)
	c := p.crawl("--per-host", "8", site.seed, held)
	bus := dialCrawl(t, p)
	eventually(t, 10*patience, "store pages", func() (bool, string) { return lastOf(t, bus, messages.StreamPages) >= uint64(stored), c.said() })

	committed, consumers := digests(t, p.out), durables(t, bus, replayed...)
	again := filepath.Join(t.TempDir(), "again")
	r := seine(t, "", "replay", "parse", "--data", p.data, "--spec", file(t, "changed.yaml", changedSpec), "--out", again, "--json", "--quiet")
	r.within(10*patience, 0)
	if c.ended() {
		t.Error("the crawl was over before the replay: the test shows nothing")
	}
	for path, sum := range committed {
		if now := digests(t, p.out)[path]; now != sum {
			t.Errorf("%s of the live output has changed", path)
		}
	}
	if now := durables(t, bus, replayed...); !slices.Equal(now, consumers) {
		t.Errorf("durable consumers of the crawl are %v, were %v", now, consumers)
	}
	g.open()
	rep := report(t, r)
	t.Logf("%d pages parsed again in %.1f s beside the crawl: %.0f pages/s", rep.Parsed, rep.Seconds, rep.PerSecond)
	c.within(10*patience, 0)

	wantPages(t, records(t, p.out, "default"), append(slices.Clone(site.pages), held))
	for path, n := range requestsByPath(web) {
		if n > 1 && path != "/gate" { // its response may have taken too long
			t.Errorf("%s was asked for %d times", path, n)
		}
	}
	rs := recordsBy(t, "replay", again, "default")
	wantPages(t, rs, urlsOf(rs)) // each once
	n := int64(len(rs))
	if rep.Outcome != replay.Complete || n < int64(stored) || n != int64(rep.ToSeq) || rep.Chosen != n || rep.Parsed != n ||
		rep.Records != n || rep.Kinds["heading"] != n || rep.Gone != 0 || len(rep.Dead) != 0 {
		t.Errorf("of %d records the report is %+v", n, rep)
	}
	missed := slices.DeleteFunc(urlsOf(rs), func(u string) bool { return slices.Contains(site.pages, u) })
	if len(missed) > 0 {
		t.Errorf("%v are not of the site", missed)
	}
}

// A replay that is killed repeatedly loses and repeats nothing, wherever its records go.
func TestKilledReplayLosesAndRepeatsNothing(t *testing.T) {
	site, web := testSite(t, testweb.Config{PagesPerHost: 600})
	p := newWorkspace(t)
	p.crawl(site.seed).expect(0)
	requests := len(web.Requests())
	spec := file(t, "changed.yaml", changedSpec)

	again := filepath.Join(t.TempDir(), "again")
	parse := []string{"replay", "parse", "--data", p.data, "--spec", spec, "--out", again, "--chunk-records", "20", "--workers", "1", "--json", "--quiet"}
	kills := killed(t, parse, func() int64 { return int64(len(digests(t, again))) })
	r := seine(t, "", parse...)
	r.expect(0)
	wantPages(t, recordsBy(t, "replay", again, "default"), site.pages)
	t.Logf("%d kills of a replay to files", kills)
	n := int64(len(site.pages))
	if rep := report(t, r); rep.Chosen != n || rep.Parsed != n || rep.Records != n || rep.Kinds["heading"] != n {
		t.Errorf("after %d kills the report is %+v", kills, rep)
	}
	done := seine(t, "", parse...)
	done.expect(0)
	if rep := report(t, done); !rep.Again || rep.Records != n {
		t.Errorf("a replay that is complete: %+v", rep)
	}
	other := seine(t, "", append(parse, "--host", "elsewhere.example")...)
	other.expect(1)
	other.complains("holds another replay", again)

	state := filepath.Join(t.TempDir(), "state")
	back := []string{"replay", "parse", "--data", p.data, "--spec", spec, "--into-records", "--beyond-spec", "--generation", "second", "--state", state, "--workers", "1", "--json", "--quiet"}
	kills = killed(t, back, func() int64 { return sentBack(t, state) })
	r = seine(t, "", back...)
	r.expect(0)
	t.Logf("%d kills of a replay into the records", kills)
	if rep := report(t, r); rep.Records != n || rep.Kinds["heading"] != n || rep.Generation != "second" {
		t.Errorf("after %d kills the report is %+v", kills, rep)
	}
	p.crawl().expect(0) // its writer has them now
	generations := make(map[string][]messages.Record)
	for _, line := range readAll(t, p.out) {
		var rec struct {
			messages.Record
			Generation string `json:"generation"`
		}
		if err := json.Unmarshal(line, &rec); err != nil {
			t.Fatal(err)
		}
		generations[rec.Generation] = append(generations[rec.Generation], rec.Record)
	}
	if len(generations) != 2 {
		t.Errorf("the output has the generations %v", slices.Collect(maps.Keys(generations)))
	}
	wantPages(t, generations[""], site.pages)
	wantPages(t, generations["second"], site.pages)
	if n := len(web.Requests()); n != requests {
		t.Errorf("replays made %d requests", n-requests)
	}
}

// killed runs a command and kills it repeatedly, each time shortly after it has written more output
// than the run before. It returns the number of kills.
func killed(t *testing.T, args []string, output func() int64) (kills int) {
	t.Helper()
	for i := range 4 {
		before, r := output(), seine(t, "", args...)
		eventually(t, patience, "put more out", func() (bool, string) { return output() > before || r.ended(), r.said() })
		time.Sleep(time.Duration(7*i) * time.Millisecond) // kill the process at a different moment each time
		if !r.ended() {
			kills++
		}
		r.signal(os.Kill)
		<-r.gone
	}
	if kills == 0 {
		t.Error("it was always over before it could be killed")
	}
	return kills
}

// sentBack returns the number of records that a replay has sent back to the crawl.
func sentBack(t *testing.T, state string) int64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(state, "forwarded.json"))
	if err != nil {
		return 0 // not yet written, or already removed
	}
	var sent struct{ Records int64 }
	if err := json.Unmarshal(text, &sent); err != nil {
		t.Fatal(err)
	}
	return sent.Records
}

// In a cluster, pages and records are replayed, including large bodies. Pages that cannot be parsed
// are counted with the reason. The rebuilt state of the frontier equals the live one.
func TestReplayOfACluster(t *testing.T) {
	site, web := testSite(t, testweb.Config{PagesPerHost: 80})
	big, flat := strings.TrimSuffix(site.seed, "/")+"/big", strings.TrimSuffix(site.seed, "/")+"/flat"
	web.Handle(0, "/big", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(rw, "<title>Big</title><h1>Big</h1><!-- %s -->", noise(3<<20))
	})
	web.Handle(0, "/flat", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(rw, "<title>Flat</title><p>No heading.")
	})
	c := newCluster(t, shape{parsers: 2, frontierArgs: []string{"--partitions", "4"}})
	bus := c.bus()
	c.begin(bus, "c", quick(), site.seed, big, flat)
	pages := append(slices.Clone(site.pages), big, flat)
	eventually(t, patience, "commit every page", func() (bool, string) {
		return len(natstest.Stored(t, bus.JS, messages.StreamRecords)) == len(pages), ""
	}, c.all()...)
	requests, consumers := len(web.Requests()), durables(t, bus, replayed...)

	out := filepath.Join(t.TempDir(), "out")
	parse := runSeine(t, "replay", "parse", "--nats", c.url, "--crawl", "c", "--spec", file(t, "changed.yaml", changedSpec), "--out", out)
	wantOutput(t, parse, "complete", "chosen       82 pages", "parsed       82", "records      81: 81 heading", "dead letters 1 × parser: ", "required", flat)
	wantPages(t, recordsBy(t, "replay", out, "c"), append(slices.Clone(site.pages), big))
	write := runSeine(t, "replay", "write", "--nats", c.url, "--crawl", "c", "--out", filepath.Join(t.TempDir(), "copy"), "--json")
	wantOutput(t, write, `"records":82`, `"kinds":{"page":82}`)

	if n := len(web.Requests()); n != requests {
		t.Errorf("replays made %d requests", n-requests)
	}
	if now := durables(t, bus, replayed...); !slices.Equal(now, consumers) {
		t.Errorf("durable consumers of the cluster are %v, were %v", now, consumers)
	}
	c.finish(bus, "c", patience)
}

// noise returns text that does not compress well.
func noise(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%x", sha256.Sum256([]byte(strconv.Itoa(i))))
	}
	return b.String()
}

// dialCrawl connects to the streams of a running crawl.
func dialCrawl(t *testing.T, p workspace) *stages.Bus {
	t.Helper()
	var bus *stages.Bus
	eventually(t, patience, "connect to the crawl", func() (bool, string) {
		var err error
		bus, err = (&connect.Operator{Data: p.data}).Dial("test", slog.New(slog.DiscardHandler))
		return err == nil, fmt.Sprint(err)
	})
	t.Cleanup(bus.Close)
	if err := bus.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
	return bus
}

// lastOf returns the last sequence of a stream.
func lastOf(t *testing.T, bus *stages.Bus, stream string) uint64 {
	t.Helper()
	s, err := bus.JS.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	return s.CachedInfo().State.LastSeq
}

// replayed are the streams that are replayed.
var replayed = []string{messages.StreamPages, messages.StreamRecords, messages.StreamURLs, messages.StreamResults}

// durables returns the durable consumers of streams.
func durables(t *testing.T, bus *stages.Bus, streams ...string) (names []string) {
	t.Helper()
	for _, stream := range streams {
		all, err := bus.Consumers(t.Context(), stream)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			if c.Config.Durable != "" {
				names = append(names, stream+"/"+c.Config.Durable)
			}
		}
	}
	slices.Sort(names)
	return names
}

// digests returns the SHA-256 of the chunks and entries of an output.
func digests(t *testing.T, out string) map[string][32]byte {
	t.Helper()
	all := make(map[string][32]byte)
	err := filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), "part-") || slices.Contains([]string{".lock", ".owner"}, filepath.Ext(d.Name())) {
			return nil // it is being created or was removed
		}
		text, err := os.ReadFile(path)
		if err == nil {
			all[path] = sha256.Sum256(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// requestsByPath counts the requests that a site has seen.
func requestsByPath(web *testweb.Web) map[string]int {
	n := make(map[string]int)
	for _, r := range web.Requests() {
		n[r.Path]++
	}
	return n
}

// report decodes the report that a replay prints.
func report(t *testing.T, c *command) (r replay.Report) {
	t.Helper()
	if err := json.Unmarshal([]byte(c.stdout.String()), &r); err != nil {
		t.Fatalf("%v: %v: %s", c.cmd.Args[1:], err, c.said())
	}
	return r
}

// readAll returns the lines that `seine cat` prints of an output.
func readAll(t *testing.T, out string) (all [][]byte) {
	t.Helper()
	c := runSeine(t, "cat", out)
	for line := range strings.Lines(c.stdout.String()) {
		all = append(all, []byte(line))
	}
	return all
}
