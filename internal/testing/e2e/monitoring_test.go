package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"seine/internal/ops/alerts"
)

// promtool runs Prometheus's own checker, which `make promtool` installs. Without it the test fails
// in CI and is skipped elsewhere.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	tool, err := filepath.Abs("../../../.cache/bin/promtool")
	if err == nil {
		_, err = os.Stat(tool)
	}
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("there is no promtool, see scripts/promtool: %v", err)
		}
		t.Skip("there is no promtool: make promtool")
	}
	if out, err := exec.Command(tool, args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %v: %v\n%s", args, err, out)
	}
}

// The configuration is valid. Each rule fires on its condition and on nothing else.
func TestPrometheusRules(t *testing.T) {
	promtool(t, "check", "config", "../../../deploy/prometheus/prometheus.yml")
	promtool(t, "check", "rules", "--lint=all", "--lint-fatal", "../../../deploy/prometheus/rules.yml")
	promtool(t, "test", "rules", "../../../deploy/prometheus/rules_test.yml")
	wantKnownMetrics(t, "deploy/prometheus/rules.yml", readFile(t, "../../../deploy/prometheus/rules.yml"))
	tests := readFile(t, "../../../deploy/prometheus/rules_test.yml")
	for _, m := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(readFile(t, "../../../deploy/prometheus/rules.yml"), -1) {
		if strings.Count(tests, m[1]) < 2 {
			t.Errorf("rules_test.yml does not have %s both fire and be silent", m[1])
		}
	}
}

// dashboard has the parts of Grafana's JSON that the test checks.
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Panels        []panel
	Templating    struct {
		List []struct{ Name, Type, Definition string }
	}
}

type panel struct {
	ID          int
	Type, Title string
	GridPos     struct{ H, W, X, Y int }
	Datasource  map[string]string
	FieldConfig struct{ Defaults map[string]any }
	Targets     []struct{ RefID, Expr, LegendFormat string }
}

// Prometheus's own parser accepts every query of the dashboard, the queries use existing metrics,
// and every panel has the texts that readers need.
func TestGrafanaDashboard(t *testing.T) {
	var d dashboard
	if err := json.Unmarshal([]byte(readFile(t, "../../../deploy/grafana/dashboards/seine.json")), &d); err != nil {
		t.Fatal(err)
	}
	var rows []string
	var queries strings.Builder
	variables := strings.NewReplacer("$__rate_interval", "5m", "$crawl", ".*")
	taken := make(map[[2]int]string)
	ids := make(map[int]bool)
	for i := range d.Panels {
		p := &d.Panels[i]
		if ids[p.ID] || p.ID == 0 {
			t.Errorf("%s: the id %d is there twice", p.Title, p.ID)
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if other := taken[at]; other != "" || at[0] > 23 {
					t.Fatalf("%s is over %q, or beyond the edge", p.Title, other)
				}
				taken[at] = p.Title
			}
		}
		if p.Type == "row" {
			rows = append(rows, p.Title)
			continue
		}
		if p.Datasource["uid"] != "${datasource}" || p.FieldConfig.Defaults["unit"] == nil || len(p.Targets) == 0 {
			t.Errorf("%s lacks its data source, a unit or queries", p.Title)
		}
		for _, q := range p.Targets {
			if q.RefID == "" || q.LegendFormat == "" {
				t.Errorf("%s: a query has no name or no legend", p.Title)
			}
			expr := variables.Replace(q.Expr)
			if strings.Contains(expr, "$") {
				t.Errorf("%s: there is no such variable: %s", p.Title, q.Expr)
			}
			fmt.Fprintf(&queries, "      - {record: 'panel:%d:%s', expr: %q}\n", p.ID, q.RefID, expr)
		}
	}
	if want := []string{"Overview", "Frontier", "Fetcher", "Parser", "Writer", "NATS", "Webhooks"}; !slices.Equal(rows, want) {
		t.Errorf("rows are %v, want %v", rows, want)
	}
	for _, v := range d.Templating.List {
		queries.WriteString("      # " + v.Definition + "\n")
	}
	text := "groups:\n  - name: panels\n    rules:\n" + queries.String()
	promtool(t, "check", "rules", "--lint=none", file(t, "panels.yml", text))
	wantKnownMetrics(t, "the dashboard", text)
}

// general are metrics of every Go process or of Prometheus itself.
var general = regexp.MustCompile(`^(up|process_\w+|go_\w+)$`)

// wantKnownMetrics fails for a metric that no stage exposes and no rule records.
func wantKnownMetrics(t *testing.T, where, text string) {
	t.Helper()
	known := documented(t)
	for _, m := range regexp.MustCompile(`record: (\S+)`).FindAllStringSubmatch(readFile(t, "../../../deploy/prometheus/rules.yml"), -1) {
		known[m[1]] = true
	}
	n := 0
	for _, name := range regexp.MustCompile(`\b(seine[:_][a-z0-9_:]+|process_[a-z_]+|go_[a-z_]+)`).FindAllString(text, -1) {
		plain := name
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if base := strings.TrimSuffix(name, suffix); known[base] {
				plain = base
			}
		}
		if n++; !known[plain] && !general.MatchString(plain) {
			t.Errorf("%s: nobody exposes %s", where, name)
		}
	}
	if n < 20 {
		t.Errorf("%s has only %d metrics", where, n)
	}
}

// compose has the parts of docker-compose.yml that the tests check.
type compose struct {
	Services map[string]struct {
		Image       string            `yaml:"image"`
		Profiles    []string          `yaml:"profiles"`
		Volumes     []string          `yaml:"volumes"`
		Ports       []string          `yaml:"ports"`
		Environment map[string]string `yaml:"environment"`
		Command     []string          `yaml:"command"`
		ReadOnly    bool              `yaml:"read_only"`
		Init        bool              `yaml:"init"`
		User        string            `yaml:"user"`
		Tmpfs       []string          `yaml:"tmpfs"`
		CapDrop     []string          `yaml:"cap_drop"`
		SecurityOpt []string          `yaml:"security_opt"`
		Healthcheck struct {
			Test []string `yaml:"test"`
		} `yaml:"healthcheck"`
		DependsOn map[string]struct {
			Required *bool `yaml:"required"` // true if absent
		} `yaml:"depends_on"`
	} `yaml:"services"`
	Volumes map[string]any `yaml:"volumes"`
}

// Prometheus scrapes existing services at their metrics ports; mounted files exist, and provisioned
// files are mounted.
func TestComposeMonitoring(t *testing.T) {
	var c compose
	if err := yaml.Unmarshal([]byte(readFile(t, "../../../docker-compose.yml")), &c); err != nil {
		t.Fatal(err)
	}
	for name, s := range c.Services {
		for _, v := range s.Volumes {
			source, _, named := strings.Cut(v, ":")
			if _, declared := c.Volumes[source]; named && !declared {
				if _, err := os.Stat(filepath.Join("../../..", source)); err != nil {
					t.Errorf("%s mounts %s: %v", name, source, err)
				}
			}
		}
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s is for all at %s", name, p)
			}
		}
		for other, d := range s.DependsOn {
			optional := d.Required != nil && !*d.Required
			if profiles := c.Services[other].Profiles; len(profiles) > 0 && !slices.Equal(profiles, s.Profiles) && !optional {
				t.Errorf("%s needs %s, which runs only with %v", name, other, profiles)
			}
		}
	}
	for _, name := range []string{"nats-exporter", "prometheus", "grafana"} {
		if s := c.Services[name]; s.Image == "" || !slices.Equal(s.Profiles, []string{"monitoring"}) {
			t.Errorf("%s is %+v", name, s)
		}
	}
	var p struct {
		ScrapeConfigs []struct {
			JobName string `yaml:"job_name"`
			DNS     []struct {
				Names []string `yaml:"names"`
				Port  int      `yaml:"port"`
			} `yaml:"dns_sd_configs"`
		} `yaml:"scrape_configs"`
	}
	if err := yaml.Unmarshal([]byte(readFile(t, "../../../deploy/prometheus/prometheus.yml")), &p); err != nil {
		t.Fatal(err)
	}
	scraped := 0
	for _, job := range p.ScrapeConfigs {
		for _, d := range job.DNS {
			for _, name := range d.Names {
				scraped++
				if at := metricsAddress(c.Services[name].Environment); at != fmt.Sprintf("0.0.0.0:%d", d.Port) || job.JobName != "seine-"+name {
					t.Errorf("job %s scrapes %s at %d, which serves at %q", job.JobName, name, d.Port, at)
				}
			}
		}
	}
	if scraped != 6 {
		t.Errorf("%d services are scraped", scraped)
	}
	provider := readFile(t, "../../../deploy/grafana/provisioning/dashboards/seine.yml")
	if !strings.Contains(provider, "path: /etc/grafana/dashboards\n") || !slices.Contains(c.Services["grafana"].Volumes, "./deploy/grafana/dashboards:/etc/grafana/dashboards:ro") {
		t.Error("the dashboard is not where it is provisioned from")
	}
	if source := readFile(t, "../../../deploy/grafana/provisioning/datasources/prometheus.yml"); !strings.Contains(source, "url: http://prometheus:9090\n") {
		t.Errorf("the data source is %s", source)
	}
}

// metricsAddress returns the metrics address of a service: the listening address of a stage, a
// separate one for the web server.
func metricsAddress(environment map[string]string) string {
	if at := environment["SEINE_METRICS"]; at != "" {
		return at
	}
	return environment["SEINE_LISTEN"]
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The runbook has a section for every alert and for no other. Each rule links to its section with
// an absolute URL.
func TestRunbookHasEveryAlert(t *testing.T) {
	t.Parallel()
	_, runbook, _ := strings.Cut(readFile(t, "../../../docs/guides/runbook.md"), "## Alerts\n")
	runbook, _, _ = strings.Cut(runbook, "\n## ")
	anchors := make(map[string]string)
	for _, h := range regexp.MustCompile(`(?m)^### (.*)$`).FindAllStringSubmatch(runbook, -1) {
		for name := range strings.SplitSeq(h[1], ", ") {
			anchors[name] = strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(h[1], ",", ""), " ", "-"))
		}
	}
	want := make(map[string]bool)
	for _, rule := range strings.Split(readFile(t, "../../../deploy/prometheus/rules.yml"), "\n      - alert: ")[1:] {
		name, text, _ := strings.Cut(rule, "\n")
		want[name] = true
		url := regexp.MustCompile(`\n +runbook_url: https://\S+/docs/guides/runbook\.md#(\S+)`).FindStringSubmatch(text)
		if url == nil || url[1] != anchors[name] {
			t.Errorf("%s leads to %q, and its section is %q", name, url, anchors[name])
		}
	}
	for _, kind := range alerts.Kinds {
		want[string(kind)] = true
	}
	if told := slices.Sorted(maps.Keys(anchors)); len(want) < 20 || !slices.Equal(told, slices.Sorted(maps.Keys(want))) {
		t.Errorf("the runbook has %v, the alerts are %v", told, slices.Sorted(maps.Keys(want)))
	}
}
