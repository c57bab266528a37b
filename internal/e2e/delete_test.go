package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seine/internal/testweb"
	"seine/pkg/messages"
)

// A crawl with a keep is deleted by itself after its end; people are told when, and its
// output stays.
func TestCrawlIsDeletedWhenItsKeepIsOver(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 10})
	c := newCluster(t, shape{})
	bus := c.bus()
	spec := quick()
	spec.Keep = messages.Duration(time.Hour)
	c.begin(bus, "site", spec, site.seed)
	eventually(t, time.Minute, "end, and be told when it is deleted", func() (bool, string) {
		out := runSeine(t, "status", "--nats", c.url, "--every", "100ms").stdout.String()
		return strings.Contains(out, "crawl site: complete") && strings.Contains(out, "unless it is fed"), out
	})
	wantOutput(t, runSeine(t, "status", "--nats", c.url, "--every", "100ms", "--json"), `"deleted_at":"20`)

	file := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(file, []byte("delay: 0s\nallow_private: true\nkeep: 1s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantOutput(t, runSeine(t, "spec", "check", file), "deleted", "1s after its end")
	wantOutput(t, runSeine(t, "spec", "apply", file, "--crawl", "site", "--nats", c.url), "revision")
	eventually(t, time.Minute, "delete the crawl", func() (bool, string) {
		out := runSeine(t, "status", "--crawl", "site", "--nats", c.url, "--every", "100ms")
		return out.code() == 2 && strings.Contains(out.stderr.String(), "there is no crawl yet"), out.said()
	})
	eventually(t, time.Minute, "write what was made", func() (bool, string) {
		return len(records(t, c.out(), "site")) == len(site.pages), ""
	})
	wantPages(t, records(t, c.out(), "site"), site.pages)
}
