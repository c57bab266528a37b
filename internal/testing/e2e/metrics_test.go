package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
)

// seineMetric matches the names of Seine's metrics in a text.
var seineMetric = regexp.MustCompile(`\bseine_[a-z_]+`)

// documented returns the metric names in docs/reference/metrics.md.
func documented(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n## Metrics\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	names := make(map[string]bool)
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "- `seine_") {
			names[seineMetric.FindString(line)] = true
		}
	}
	if len(names) < 30 {
		t.Fatalf("only %d metrics are documented", len(names))
	}
	return names
}

// The metrics of all real stages follow Prometheus's conventions, the documentation lists exactly
// these metrics, and no label has a host.
func TestMetricsAreThoseThatAreDocumented(t *testing.T) {
	want := documented(t)
	site, web := testSite(t, testweb.Config{PagesPerHost: 60, ErrorRate: 0.1})
	c := newCluster(t, shape{writerAge: "1m"}) // something waits for a writer meanwhile
	bus := c.bus()
	server := c.serveWithWebhook()
	spec := quick()
	spec.Alerts.Over = crawlspec.Duration(time.Second) // evaluated often
	c.begin(bus, "site", spec, site.seed)
	eventually(t, time.Minute, "fetch some pages", func() (bool, string) { return len(web.Requests()) > 4, "" })
	c.front.kill()
	c.front.start() // finds the crawl at its first evaluation
	exposed := make(map[string]bool)
	eventually(t, time.Minute, "expose every metric", func() (bool, string) {
		for _, p := range append(c.all(), server) {
			for line := range strings.Lines(p.metrics()) {
				if name, ok := strings.CutPrefix(line, "# TYPE seine_"); ok {
					exposed["seine_"+strings.Fields(name)[0]] = true
				}
			}
		}
		missing := maps.Clone(want)
		maps.DeleteFunc(missing, func(name string, _ bool) bool { return exposed[name] })
		return len(missing) == 0, "missing: " + strings.Join(slices.Sorted(maps.Keys(missing)), " ")
	})
	for name := range exposed {
		if !want[name] {
			t.Errorf("docs/reference/metrics.md does not tell of %s", name)
		}
	}
	for _, p := range append(c.all(), server) {
		text := p.metrics()
		for _, general := range []string{"go_goroutines", "process_resident_memory_bytes", "seine_build_info"} {
			if !strings.Contains(text, "\n"+general) {
				t.Errorf("%s does not expose %s", p.name, general)
			}
		}
		problems, err := promlint.New(strings.NewReader(text)).Lint()
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		for _, problem := range problems {
			t.Errorf("%s: %s: %s", p.name, problem.Metric, problem.Text)
		}
		if strings.Contains(text, "127.0.0.1") || strings.Contains(text, "http://") {
			t.Errorf("%s exposes a host or a URL", p.name)
		}
	}
}

// serveWithWebhook starts the server with a webhook whose receiver rejects everything.
func (c *cluster) serveWithWebhook() *process {
	c.t.Helper()
	dead := httptest.NewServer(http.NotFoundHandler())
	c.t.Cleanup(dead.Close)
	p := start(c.t, "seine", "serve", "--nats", c.url, "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--allow-private", "--state", c.t.TempDir())
	url := addressOf(c.t, p.log)
	eventually(c.t, patience, "create a webhook", func() (bool, string) {
		status, a := ask(c.t, "POST", url+"/api/v1/webhooks", fmt.Sprintf(`{"name": "pipeline", "url": %q, "batch": {"seconds": 1}}`, dead.URL))
		return status == http.StatusCreated, fmt.Sprint(a)
	}, p)
	return p
}
