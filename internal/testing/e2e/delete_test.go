package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"seine/internal/run/crawl"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
)

// A crawl with a keep is deleted automatically after its end. The time is announced, and the output
// stays.
func TestCrawlIsDeletedWhenItsKeepIsOver(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 10})
	c := newCluster(t, shape{})
	bus := c.bus()
	spec := quick()
	spec.Keep = crawlspec.Duration(time.Hour)
	c.begin(bus, "site", spec, site.seed)
	eventually(t, time.Minute, "end, and be told when it is deleted", func() (bool, string) {
		out := runSeine(t, "status", "--nats", c.url, "--every", "100ms").stdout.String()
		return strings.Contains(out, "crawl site: complete") && strings.Contains(out, "unless it gets new URLs"), out
	})
	wantOutput(t, runSeine(t, "status", "--nats", c.url, "--every", "100ms", "--json"), `"deleted_at":"20`)

	file := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(file, []byte("delay: 0s\nper_host: 16\nallow_private: true\nkeep: 1s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantOutput(t, runSeine(t, "spec", "check", file), "deleted", "1s after its end")
	wantOutput(t, runSeine(t, "spec", "apply", file, "--crawl", "site", "--nats", c.url), "revision")
	eventually(t, time.Minute, "delete the crawl", func() (bool, string) {
		out := runSeine(t, "status", "--crawl", "site", "--nats", c.url, "--every", "100ms")
		return out.code() == 2 && strings.Contains(out.stderr.String(), "no crawl exists yet"), out.said()
	})
	eventually(t, time.Minute, "write what was made", func() (bool, string) {
		return len(records(t, c.out(), "site")) == len(site.pages), ""
	})
	wantPages(t, records(t, c.out(), "site"), site.pages)
}

// A crawl that is deleted while it runs ends and says so. The delete command reports that nothing
// is left. The output stays.
func TestCrawlThatIsDeletedWhileItRunsEnds(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 20})
	g := newGate(t, web, "/gate")
	p := newWorkspace(t)
	running := p.crawl(site.seed, strings.TrimSuffix(site.seed, "/")+"/gate")
	g.wait(t)
	wantOutput(t, runSeine(t, "delete", "default", "--yes", "--data", p.data), "crawl default is deleted")
	running.expect(5)
	if s := running.summary(); s.Outcome != crawl.OutcomeDeleted || s.Error == "" {
		t.Errorf("the summary: %+v", s)
	}
	g.open()
}

// The remains of a stopped crawl in its directory can be deleted by the same command, both after
// its end and after a kill.
func TestCrawlThatDoesNotRunIsDeleted(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 20})
	p := newWorkspace(t)
	p.crawl(site.seed).expect(0)
	if out := runSeine(t, "delete", "defaults", "--yes", "--data", p.data); out.code() != 2 || !strings.Contains(out.stderr.String(), "did you mean default?") {
		t.Errorf("another name: %d, %s", out.code(), out.said())
	}
	wantOutput(t, runSeine(t, "delete", "default", "--yes", "--data", p.data), "crawl default is deleted")
	wantPages(t, records(t, p.out, "default"), site.pages)
	g := newGate(t, web, "/gate")
	second := p.crawl(site.seed, strings.TrimSuffix(site.seed, "/")+"/gate")
	g.wait(t)
	second.signal(syscall.SIGKILL)
	<-second.gone
	g.open()
	wantOutput(t, runSeine(t, "delete", "default", "--yes", "--data", p.data), "crawl default is deleted")
	wantOutput(t, runSeine(t, "verify", p.out))
}
