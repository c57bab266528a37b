package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"seine/internal/run/crawl"
	"seine/internal/testing/freeport"
	"seine/internal/testing/testweb"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

func TestCrawlASite(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 300, ErrorRate: 0.05, RedirectRate: 0.05, MissingRate: 0.05})
	p := newWorkspace(t)
	c := p.crawl(site.seed)
	c.expect(0)
	rs := records(t, p.out, "default")
	wantPages(t, rs, site.pages)
	checkCompleteSummary(t, c.summary(), p, web, len(site.pages))
	for _, path := range web.Disallowed(0) {
		if n := web.Count(0, path); n > 0 {
			t.Errorf("%s was fetched %d times although robots.txt forbids it", path, n)
		}
	}
	if c.stderr.String() != "" {
		t.Errorf("--quiet said on standard error: %s", c.stderr)
	}
	checkRecords(t, rs, site.seed)
}

// checkCompleteSummary compares a summary with the contents of the test web.
func checkCompleteSummary(t *testing.T, s crawl.Summary, p workspace, web *testweb.Web, pages int) {
	t.Helper()
	if s.Outcome != crawl.OutcomeComplete || s.Error != "" || s.Crawl != "default" || s.Out != p.out {
		t.Errorf("summary of a complete crawl: %+v", s)
	}
	n := int64(pages)
	if s.Pages != n || s.Records != n || s.URLs.Open != 0 || s.Requests[messages.OK] != n {
		t.Errorf("%d pages, %d records, %d open, %d ok; want %d pages", s.Pages, s.Records, s.URLs.Open, s.Requests[messages.OK], n)
	}
	for class, want := range map[messages.Class]int{
		messages.Gone: len(web.Missing(0)), messages.RobotsDenied: len(web.Disallowed(0)), messages.ServerError: len(web.Flaky(0)),
	} {
		if got := s.Requests[class]; got != int64(want) {
			t.Errorf("%d requests ended with %s, want %d", got, class, want)
		}
	}
	if s.Requests[messages.Redirect] < int64(len(web.Redirects(0))) {
		t.Errorf("%d redirects, want at least %d", s.Requests[messages.Redirect], len(web.Redirects(0)))
	}
	failed := int64(len(web.Missing(0)))
	if len(web.Redirects(0)) > 0 {
		failed++ // /go/self, which redirects to itself
	}
	if s.URLs.Failed != failed || s.URLs.Excluded["robots"] != int64(len(web.Disallowed(0))) {
		t.Errorf("URLs by their end: %+v", s.URLs)
	}
	checkReasons(t, &s, web)
	known := s.URLs.Done + s.URLs.Failed + s.URLs.Open
	for _, x := range s.URLs.Excluded {
		known += x
	}
	if s.URLs.Known != known || s.URLs.Done != n+s.Requests[messages.Redirect] {
		t.Errorf("URLs do not add up: %+v", s.URLs)
	}
	if s.Seconds <= 0 || s.PagesPerSecond <= 0 || s.BytesBody < n*1000 || s.BytesWire < n*1000 || len(s.SlowestHosts) != 1 {
		t.Errorf("measures of a crawl: %+v", s)
	}
	checkFiles(t, s, p, ".jsonl.zst")
}

// checkReasons checks that a summary says why URLs failed and were excluded, with an example URL.
func checkReasons(t *testing.T, s *crawl.Summary, web *testweb.Web) {
	t.Helper()
	for _, want := range []struct {
		all    []frontierapi.Reason
		reason string
		paths  []string
	}{{s.Failures, "gone", web.Missing(0)}, {s.Exclusions, "robots", web.Disallowed(0)}} {
		i := slices.IndexFunc(want.all, func(r frontierapi.Reason) bool { return r.Name == want.reason })
		if len(want.paths) == 0 && i < 0 {
			continue
		}
		if i < 0 || want.all[i].URLs != int64(len(want.paths)) || want.all[i].Example == nil {
			t.Errorf("reasons are %+v, want %d of %s with an example", want.all, len(want.paths), want.reason)
			continue
		}
		example := want.all[i].Example.URL
		if !slices.ContainsFunc(want.paths, func(path string) bool { return strings.HasSuffix(example, path) }) {
			t.Errorf("the example of %s is %s, which is none of %v", want.reason, example, want.paths)
		}
	}
}

// checkFiles checks that the files of a summary have the stated records.
func checkFiles(t *testing.T, s crawl.Summary, p workspace, suffix string) (all []map[string]any) {
	t.Helper()
	for _, f := range s.Files {
		rs := lines(t, filepath.Join(p.out, f.Path))
		if !strings.HasSuffix(f.Path, suffix) || len(rs) != f.Records {
			t.Errorf("%s has %d records, the summary says %d of *%s", f.Path, len(rs), f.Records, suffix)
		}
		all = append(all, rs...)
	}
	if int64(len(all)) != s.Records {
		t.Errorf("%d records in files, %d in the summary", len(all), s.Records)
	}
	for _, r := range all {
		for _, key := range []string{"url", "status", "content_type", "title", "description", "canonical", "text", "fetched_at", "depth", "referrer"} {
			if _, ok := r[key]; !ok {
				t.Fatalf("record without %s: %v", key, r)
			}
		}
	}
	return all
}

func checkRecords(t *testing.T, rs []messages.Record, seed string) {
	t.Helper()
	for _, r := range rs {
		isSeed := r.URL == seed
		switch {
		case r.Status != http.StatusOK, !strings.HasPrefix(r.ContentType, "text/html"), !strings.HasPrefix(r.Title, "Page "):
		case !strings.HasPrefix(r.Description, "About "), !strings.HasSuffix(r.Description, " & more"), len(r.Text) < 100:
		case r.Canonical != r.URL, time.Since(r.FetchedAt) > time.Hour, time.Until(r.FetchedAt) > 0:
		case (r.Depth == 0) != isSeed, (r.Referrer == "") != isSeed:
		default:
			continue
		}
		r.Text = messages.Clip(r.Text)
		t.Fatalf("not the record of a page of the test web: %+v", r)
	}
}

func TestCrawlStopsAtMaxPagesAndGoesOn(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 150})
	p := newWorkspace(t)
	before := 0
	for _, limit := range []int{1, 37, 90} {
		c := p.crawl("--max-pages", fmt.Sprint(limit), site.seed)
		c.expect(0) // the requested limit
		s := c.summary()
		rs := records(t, p.out, "default")
		if s.Outcome != crawl.OutcomeLimit || s.Limit != "max_pages" || s.Pages != int64(limit) || s.Records != int64(limit) || len(rs) != limit {
			t.Errorf("at --max-pages %d: %s with %d pages and %d records, %d in the files", limit, s.Outcome, s.Pages, s.Records, len(rs))
		}
		if s.PagesBefore != int64(before) {
			t.Errorf("at --max-pages %d: %d pages are of earlier runs, want %d", limit, s.PagesBefore, before)
		}
		before = limit
		wantPages(t, rs, urlsOf(rs)) // each once
	}
	asked := len(web.Requests())
	p.crawl("--max-pages", "90", "--strict", site.seed).expect(3)
	p.crawl(site.seed).expect(3) // the limit is in the crawl's spec now and not in a flag
	if n := len(web.Requests()) - asked; n != 0 {
		t.Errorf("the same limit again made %d requests", n)
	}
	p.crawl("--max-pages", "0").expect(0) // continuing needs no URL
	wantPages(t, records(t, p.out, "default"), site.pages)
	if n := web.Count(0, "/"); n != 1 {
		t.Errorf("the seed was fetched %d times", n)
	}
}

func urlsOf(rs []messages.Record) []string {
	urls := make(map[string]bool)
	for _, r := range rs {
		urls[r.URL] = true
	}
	return slices.Collect(maps.Keys(urls))
}

func TestCrawlGoesOnAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 400, Latency: 20 * time.Millisecond})
	p := newWorkspace(t)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		c, target := p.crawl(site.seed), len(web.Requests())+60
		eventually(t, patience, "fetch some pages", func() (bool, string) { return len(web.Requests()) >= target, c.said() })
		c.signal(s)
		c.expect(4)
		got := c.summary()
		rs := records(t, p.out, "default")
		if got.Outcome != crawl.OutcomeInterrupted || got.Records != int64(len(rs)) || got.Pages != got.Records || got.URLs.Open == 0 {
			t.Errorf("after %s: %+v with %d records", s, got, len(rs))
		}
		wantPages(t, rs, urlsOf(rs))
	}
	c := p.crawl(site.seed)
	c.expect(0)
	wantPages(t, records(t, p.out, "default"), site.pages)
	if n := int64(len(site.pages)); c.summary().Pages != n {
		t.Errorf("%d pages in all, want %d", c.summary().Pages, n)
	}
	for _, u := range site.pages {
		if path := strings.TrimPrefix(u, strings.TrimSuffix(site.seed, "/")); web.Count(0, path) != 1 {
			t.Errorf("%s was fetched %d times: a drained crawl repeats nothing", path, web.Count(0, path))
		}
	}
}

func TestSecondInterruptEndsACrawlAtOnce(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 30})
	g := newGate(t, web, "/gate")
	held := strings.TrimSuffix(site.seed, "/") + "/gate"
	p := newWorkspace(t)
	c := p.crawl(site.seed, held)
	g.wait(t)
	c.signal(os.Interrupt)
	eventually(t, patience, "hear the first signal", func() (bool, string) {
		return strings.Contains(c.stderr.String(), "press Ctrl-C again to stop immediately"), c.said()
	})
	if c.ended() {
		t.Error("the first signal did not wait for what is under way")
	}
	c.signal(os.Interrupt)
	c.expect(130) // while the request is still in flight
	g.open()
	p.crawl(site.seed, held).expect(0)
	wantPages(t, records(t, p.out, "default"), append(site.pages, held))
}

// The process is killed after a random number of requests, or some time after its start if it still
// waits for the requests of its predecessor.
func TestKilledCrawlLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"--chain", "--no-chain"} {
		t.Run(how, func(t *testing.T) { testKilledCrawl(t, how) })
	}
}

func testKilledCrawl(t *testing.T, how string) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 700, Latency: 2 * time.Millisecond, LatencyJitter: 10 * time.Millisecond})
	p := newWorkspace(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("random seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 3 {
		more, atMost := 1+rng.IntN(200), time.Duration(200+rng.IntN(1000))*time.Millisecond
		c, before, began := p.crawl(site.seed, how), len(web.Requests()), time.Now()
		eventually(t, patience, "reach a random moment", func() (bool, string) {
			return len(web.Requests()) >= before+more || before > 0 && time.Since(began) > atMost, c.said()
		})
		c.signal(syscall.SIGKILL)
		c.expect(-1)
	}
	c := p.crawl(site.seed, how)
	c.expect(0)
	wantPages(t, records(t, p.out, "default"), site.pages)
	if s := c.summary(); s.Pages != int64(len(site.pages)) || s.Records != s.Pages {
		t.Errorf("the summary counts %d pages and %d records, want %d", s.Pages, s.Records, len(site.pages))
	}
}

func TestCrawlRefusesWrongUsage(t *testing.T) {
	t.Parallel()
	spec := file(t, "spec.yaml", "scope: host\ndelai: 1s\n")
	options := file(t, "options.yaml", "per-hosts: 3\n")
	for name, tt := range map[string]struct {
		args []string
		says []string
	}{
		"no URL and no data":       {nil, []string{"no URL", "--data"}},
		"a URL without a scheme":   {[]string{"example.org/a"}, []string{`"example.org/a"`, "did you mean https://example.org/a"}},
		"another scheme":           {[]string{"ftp://example.org/"}, []string{"ftp://example.org/", "http or https"}},
		"a malformed URL":          {[]string{"http://[::1/"}, []string{`"http://[::1/"`, "]"}},
		"a malformed port":         {[]string{"http://example.org:99999/"}, []string{"http://example.org:99999/", "invalid URL"}},
		"one bad URL of two":       {[]string{"http://example.org/", "nowhere"}, []string{`"nowhere"`}},
		"an unknown flag":          {[]string{"http://example.org/", "--dealy", "1s"}, []string{"unknown flag --dealy", "--help"}},
		"an unknown scope":         {[]string{"http://example.org/", "--scope", "world"}, []string{`scope: "world"`, "host, domain, any"}},
		"an unknown robots policy": {[]string{"http://example.org/", "--robots", "no"}, []string{`robots: "no"`, "obey, ignore"}},
		"an unknown format":        {[]string{"http://example.org/", "--format", "xls"}, []string{"--format", "jsonl.zst", `"xls"`}},
		"a delay without a unit":   {[]string{"http://example.org/", "--delay", "5"}, []string{"--delay", `"5"`, "500ms, 1s"}},
		"a negative limit":         {[]string{"http://example.org/", "--max-pages=-1"}, []string{"max_pages: -1", "0 for no limit"}},
		"a depth in words":         {[]string{"http://example.org/", "--max-depth", "two"}, []string{"--max-depth", `"two"`}},
		"no workers":               {[]string{"http://example.org/", "--workers", "0"}, []string{"workers 0", "from 1"}},
		"a bad pattern":            {[]string{"http://example.org/", "--include", "re:("}, []string{"include", `"re:("`}},
		"an unknown key":           {[]string{"http://example.org/", "--spec", spec}, []string{spec + ":2:1: delai", "did you mean delay"}},
		"a spec that is missing":   {[]string{"http://example.org/", "--spec", spec + "x"}, []string{"--spec", "spec.yamlx"}},
		"an unknown option":        {[]string{"http://example.org/", "--config", options}, []string{`"per-hosts"`, "per-host"}},
		"a bad name":               {[]string{"http://example.org/", "--crawl", "A B"}, []string{`"A B"`, "a-z"}},
		"paths without a key":      {[]string{"http://example.org/", "--format", "objects", "--key", "{key}.json"}, []string{"kind page have no key", "{url_hash}"}},
		"a dry run of nothing":     {[]string{"--dry-run"}, []string{"--dry-run needs a URL"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c := seine(t, dir, append([]string{"crawl"}, tt.args...)...)
			c.expect(2)
			c.complains(append(tt.says, "seine: ")...)
			if c.stdout.String() != "" || strings.Count(c.stderr.String(), "\n") != 1 {
				t.Errorf("more than one line: %s", c.said())
			}
			wantEmpty(t, dir)
		})
	}
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("%s was made", e.Name())
	}
}

func TestCrawlHoldsToDepthAndPatterns(t *testing.T) {
	t.Parallel()
	web := testweb.New(testweb.Config{PagesPerHost: 200, LinksPerPage: 6, RobotsTxt: testweb.RobotsMissing})
	s := testweb.Run(t, web)
	seed := s.URL(0, "/")
	all := walk(t, s.Client(), seed, sameHost(seed))
	within := func(depth int) map[string]int {
		some := maps.Clone(all)
		maps.DeleteFunc(some, func(_ string, d int) bool { return d > depth })
		return some
	}
	only := func(follow func(u string) bool) map[string]int { return walk(t, s.Client(), seed, follow) }
	item := regexp.MustCompile(`/item\.php\?`)
	tests := map[string]struct {
		args []string
		want map[string]int
	}{
		"depth 0":   {[]string{"--max-depth", "0"}, within(0)},
		"depth 1":   {[]string{"--max-depth", "1"}, within(1)},
		"depth 2":   {[]string{"--max-depth", "2"}, within(2)},
		"no limits": {nil, all},
		"include": {[]string{"--include", "*.html", "--include", `re:/item\.php\?`}, only(func(u string) bool {
			return strings.HasSuffix(u, ".html") || item.MatchString(u)
		})},
		"exclude": {[]string{"--exclude", "*.html"}, only(func(u string) bool { return !strings.HasSuffix(u, ".html") })},
		"both": {[]string{"--include", "*.html", "--exclude", "*/private/*"}, only(func(u string) bool {
			return strings.HasSuffix(u, ".html") && !strings.Contains(u, "/private/")
		})},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if len(tt.want) == len(all) && tt.args != nil {
				t.Fatal("the test web shows no effect")
			}
			p := newWorkspace(t)
			p.crawl(append(tt.args, "--robots", "ignore", seed)...).expect(0) // and so follows nofollow
			rs := records(t, p.out, "default")
			wantPages(t, rs, slices.Collect(maps.Keys(tt.want)))
			for _, r := range rs {
				if r.Depth < tt.want[r.URL] {
					t.Errorf("%s has depth %d, want at least %d", r.URL, r.Depth, tt.want[r.URL])
				}
			}
		})
	}
}

// A sitemap in robots.txt gives a small depth to pages that are many links away from the seed.
func TestCrawlFollowsSitemaps(t *testing.T) {
	t.Parallel()
	web := testweb.New(testweb.Config{PagesPerHost: 200, LinksPerPage: 3, Sitemap: true})
	s := testweb.Run(t, web)
	var all []string
	for _, p := range web.Pages(0) {
		all = append(all, s.URL(0, p))
	}
	p := newWorkspace(t)
	p.crawl("--max-depth", "1", "--sitemaps", s.URL(0, "/")).expect(0)
	wantPages(t, records(t, p.out, "default"), all)

	p = newWorkspace(t)
	p.crawl("--max-depth", "1", s.URL(0, "/")).expect(0)
	if n := len(records(t, p.out, "default")); n >= len(all) {
		t.Errorf("%d of %d pages without the sitemap: it shows no effect", n, len(all))
	}
}

func TestCrawlStaysInScope(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		domain string
		args   []string
		hosts  int
	}{
		"host":                     {"site.localhost", nil, 1},
		"domain":                   {"site.localhost", []string{"--scope", "domain"}, 2},
		"domain, but another":      {"localhost", []string{"--scope", "domain"}, 1},
		"any":                      {"localhost", []string{"--scope", "any"}, 2},
		"any, but for an exclude":  {"localhost", []string{"--scope", "any", "--exclude", "*://h1.*"}, 1},
		"host, with a second seed": {"localhost", []string{"second"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			web := testweb.New(testweb.Config{Hosts: 2, Domain: tt.domain, PagesPerHost: 40, CrossHostLinks: 0.3})
			s := testweb.Run(t, web)
			var want []string
			for h := range tt.hosts {
				for _, path := range web.Pages(h) {
					want = append(want, s.URL(h, path))
				}
			}
			args := append(slices.Clone(tt.args), s.URL(0, "/"))
			if i := slices.Index(args, "second"); i >= 0 {
				args[i] = s.URL(1, "/")
			}
			p := newWorkspace(t)
			p.crawl(args...).expect(0)
			wantPages(t, records(t, p.out, "default"), want)
			for h := tt.hosts; h < 2; h++ {
				if n := len(web.RequestsTo(h)); n > 0 {
					t.Errorf("%d requests to %s, which is out of scope", n, web.Name(h))
				}
			}
		})
	}
}

func TestDryRunFetchesAndWritesNothing(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{})
	dir := t.TempDir()
	c := seine(t, dir, "crawl", "--dry-run", "--allow-private", "--max-depth", "2", "--exclude", "*.pdf", site.seed)
	c.expect(0)
	for _, part := range []string{site.seed, "at most 2 links", "*.pdf", "robots.txt", "at least 1s"} {
		if !strings.Contains(c.stdout.String(), part) {
			t.Errorf("the plan does not say %q:\n%s", part, c.stdout)
		}
	}
	wantEmpty(t, dir)
	if n := len(web.Requests()); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}

func TestCrawlWritesEveryFormat(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 40})
	for _, format := range []string{"jsonl", "jsonl.gz", "jsonl.zst"} {
		t.Run(format, func(t *testing.T) {
			p := newWorkspace(t)
			c := p.crawl("--format", format, site.seed)
			c.expect(0)
			var rs []messages.Record
			for _, r := range checkFiles(t, c.summary(), p, "."+format) {
				rs = append(rs, messages.Record{URL: r["url"].(string)})
			}
			wantPages(t, rs, site.pages)
		})
	}
}

func TestOnlyOneCrawlUsesADataDirectory(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 60})
	g := newGate(t, web, "/gate")
	held := strings.TrimSuffix(site.seed, "/") + "/gate"
	p := newWorkspace(t)
	first := p.crawl(site.seed, held)
	g.wait(t)
	second := p.crawl(site.seed)
	second.expect(1)
	second.complains(fmt.Sprintf("in use by another seine (process %d on ", first.cmd.Process.Pid), "seine spec apply FILE --data "+p.data)
	if second.stdout.String() != "" {
		t.Errorf("it has a summary: %s", second.stdout)
	}
	g.open()
	first.expect(0)
	wantPages(t, records(t, p.out, "default"), append(site.pages, held))
}

func TestCrawlOverANATSServerElsewhere(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 60})
	p := newWorkspace(t)
	port := freeport.Get(t)
	server := startNATS(t, t.TempDir(), port)
	eventually(t, patience, "start nats-server", func() (bool, string) {
		return strings.Contains(server.log.String(), "Server is ready"), server.log.String()
	}, server)
	p.crawl("--nats", fmt.Sprintf("nats://127.0.0.1:%d", port), site.seed).expect(0)
	wantPages(t, records(t, p.out, "default"), site.pages)
	if isDir(filepath.Join(p.data, "nats")) {
		t.Error("there is an embedded server's directory all the same")
	}
}

func TestCrawlPostgreSQLDocumentation(t *testing.T) {
	t.Parallel()
	crawlDocs(t, docs(t, "postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html"))
}

func TestCrawlPythonDocumentation(t *testing.T) {
	t.Parallel()
	crawlDocs(t, docs(t, "python3.11-doc", "usr/share/doc/python3.11-doc/html"))
}

// crawlDocs crawls documentation.
func crawlDocs(t *testing.T, s site) {
	t.Helper()
	p := newWorkspace(t)
	p.crawl(s.seed).expect(0)
	wantDocs(t, s, records(t, p.out, "default"))
}

// wantDocs compares the HTML pages with those that a simple walk along the links of the
// documentation finds: their number changes with Debian's packages.
func wantDocs(t *testing.T, s site, rs []messages.Record) {
	t.Helper()
	want := walk(t, &http.Client{Transport: new(http.Transport)}, s.seed, sameHost(s.seed))
	if len(want) < 400 {
		t.Fatalf("the documentation has %d pages only", len(want))
	}
	rs = slices.DeleteFunc(rs, func(r messages.Record) bool { return !strings.HasPrefix(r.ContentType, "text/html") })
	wantPages(t, rs, slices.Collect(maps.Keys(want)))
	for _, r := range rs {
		if r.Title == "" || r.Text == "" {
			t.Errorf("%s has title %q and %d bytes of text", r.URL, r.Title, len(r.Text))
		}
	}
}

// The command does not wait for a crawl without seeds.
func TestCrawlOfAnUnknownNameIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 5})
	p := newWorkspace(t)
	p.crawl(site.seed).expect(0)
	c := p.crawl("--crawl", "other")
	c.expect(2)
	c.complains("no crawl to resume", "crawl other")
}

// A refused crawl makes no requests, although another crawl in the same state has open URLs.
func TestRefusedCrawlMakesNoRequest(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 5})
	var asked atomic.Int32
	web.Handle(0, "/slow", func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		<-r.Context().Done()
	})
	p := newWorkspace(t)
	first := p.crawl(strings.TrimSuffix(site.seed, "/") + "/slow")
	eventually(t, patience, "ask the site", func() (bool, string) { return asked.Load() > 0, first.said() })
	first.signal(syscall.SIGKILL)
	<-first.gone
	p.crawl("--crawl", "other").expect(2)
	if n := asked.Load(); n != 1 {
		t.Errorf("the site was asked %d times, once before it was refused", n)
	}
}
