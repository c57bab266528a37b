package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seine/internal/testing/testweb"
	"seine/pkg/messages"
)

// requestsIn returns the results that seine cat reads from a request log.
func requestsIn(t *testing.T, dir string) (all []messages.Result) {
	t.Helper()
	if err := verifyOutput(dir, "requests"); err != nil {
		t.Fatal(err)
	}
	cat := seine(t, "", "cat", dir)
	cat.expect(0)
	for l := range strings.Lines(cat.stdout.String()) {
		var r messages.Result
		if err := json.Unmarshal([]byte(l), &r); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		all = append(all, r)
	}
	return all
}

// A crawl that is interrupted and killed has every request in its log once, including failed ones,
// wherever the log is, even in a folder of the output.
func TestCrawlLogsItsRequests(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 150, Latency: 10 * time.Millisecond, ErrorRate: 0.05, RedirectRate: 0.05, MissingRate: 0.05})
	p := newWorkspace(t)
	dir := filepath.Join(p.out, "requests")
	for i, s := range []os.Signal{os.Interrupt, os.Kill} {
		c, target := p.crawl("--log-requests", dir, site.seed), len(web.Requests())+50
		eventually(t, patience, "fetch some pages", func() (bool, string) { return len(web.Requests()) >= target || c.ended(), c.said() })
		c.signal(s)
		c.expect([]int{4, -1}[i])
	}
	c := p.crawl(site.seed) // remembers the log
	c.expect(0)
	wantPages(t, records(t, p.out, "default"), site.pages)
	s := c.summary()
	seen, byClass := make(map[string]bool), make(map[messages.Class]int64)
	for _, r := range requestsIn(t, dir) {
		if id := r.ID(); seen[id] {
			t.Errorf("%s is in the log twice", id)
		} else {
			seen[id] = true
		}
		byClass[r.Class]++
		if (r.Referrer == "") != (r.URL == site.seed) || (r.Depth == 0) != (r.Referrer == "") && r.Redirects == 0 || r.Started.IsZero() || r.Fetcher == "" {
			t.Errorf("a line lacks how the URL was found, or asked for: %+v", r)
		}
	}
	if fmt.Sprint(byClass) != fmt.Sprint(s.Requests) || len(web.Missing(0)) == 0 || byClass[messages.Gone] != int64(len(web.Missing(0))) {
		t.Errorf("in the log: %v; the summary has %v", byClass, s.Requests)
	}
	if l := s.RequestLog; l == nil || l.Requests != int64(len(seen)) || l.Out != dir || len(l.Files) == 0 {
		t.Errorf("the summary says of a log of %d requests: %+v", len(seen), l)
	}
}

// Without the request log its reservation is released. The log cannot be in the directory of the
// records.
func TestLogOfRequestsCanBeLeftAndTakenUpAgain(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 60})
	p := newWorkspace(t)
	dir := filepath.Join(t.TempDir(), "requests")
	for i, limit := range []int{10, 30} {
		c := p.crawl(append([]string{"--max-pages", fmt.Sprint(limit), site.seed}, [][]string{{"--log-requests", dir}, {"--change-output"}}[i]...)...)
		c.expect(0)
		if said := strings.Contains(c.stderr.String(), "flag=--log-requests"); said != (i == 1) {
			t.Errorf("with limit %d it says: %s", limit, c.stderr)
		}
	}
	c := p.crawl("--max-pages", "0", "--log-requests", dir)
	c.expect(0)
	n := int64(0)
	for _, count := range c.summary().Requests {
		n += count
	}
	if have := requestsIn(t, dir); int64(len(have)) != n { // the stream still has the requests in between
		t.Errorf("%d requests in the log, want %d", len(have), n)
	}
	same := p.crawl("--log-requests", p.out, site.seed, "--change-output")
	same.expect(2)
	same.complains("--log-requests " + p.out + ": is already used for --out")
}

// With --log-level info, each failed request is logged with its URL and the next step.
func TestFailedRequestsAreInTheLog(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 10, MissingRate: 0.3, ErrorRate: 0.3})
	c := newWorkspace(t).crawl("--log-level", "info", site.seed)
	c.expect(0)
	base := strings.TrimSuffix(site.seed, "/")
	for _, path := range web.Missing(0) {
		c.complains(`msg="request failed"`, "url="+base+path+" ", `next=abandon`)
	}
	for _, path := range web.Flaky(0) {
		c.complains("url="+base+path+" ", "next=retry at=")
	}
	if len(web.Missing(0))+len(web.Flaky(0)) == 0 {
		t.Error("nothing fails on the site")
	}
}
