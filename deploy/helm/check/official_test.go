package check

import (
	"encoding/json"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	podsecurity "k8s.io/pod-security-admission/api"
	podpolicy "k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"

	"seine/internal/run/connect"
	"seine/internal/testing/natstest"
)

// official renders the chart with the official NATS chart, which SEINE_NATS_CHART names.
func official(t *testing.T, text string) []object {
	t.Helper()
	nats := os.Getenv("SEINE_NATS_CHART")
	if nats == "" {
		t.Skip("SEINE_NATS_CHART does not name the official NATS chart (helm pull nats --repo https://nats-io.github.io/k8s/helm/charts/)")
	}
	r, err := Render(values(t, text), nats)
	if err != nil {
		t.Fatal(err)
	}
	var docs []string
	for name, text := range r {
		if filepath.Ext(name) == ".yaml" && !strings.Contains(name, "/tests/") && !strings.Contains(name, "/test-") {
			docs = append(docs, split(text)...)
		}
	}
	return decode(t, docs)
}

// With the official chart: its pods pass Pod Security Admission, services have the names that stages and KEDA ask, its
// labels are those of the network policies, and it has a budget and a store as large as the values say.
func TestOfficialNATSChart(t *testing.T) {
	for _, name := range []string{"defaults", "keda", "everything", "broker-metrics"} {
		all := official(t, Cases[name])
		evaluator, err := podpolicy.NewEvaluator(podpolicy.DefaultChecks(), nil)
		if err != nil {
			t.Fatal(err)
		}
		w := named[*apps.StatefulSet](t, all, "seine-nats")
		results := evaluator.EvaluatePod(podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}, &w.Spec.Template.ObjectMeta, &w.Spec.Template.Spec)
		if r := podpolicy.AggregateCheckResults(results); !r.Allowed {
			t.Errorf("%s: %s: %s", name, r.ForbiddenReason(), r.ForbiddenDetail())
		}
		if !labels.SelectorFromSet(broker).Matches(labels.Set(w.Spec.Template.Labels)) {
			t.Errorf("%s: pods have the labels %v", name, w.Spec.Template.Labels)
		}
		if size := w.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage().String(); size != "20Gi" {
			t.Errorf("%s: the store is %s", name, size)
		}
		named[*core.Service](t, all, "seine-nats")
		monitor := named[*core.Service](t, all, "seine-nats-headless")
		if !slices.ContainsFunc(monitor.Spec.Ports, func(p core.ServicePort) bool { return p.Port == 8222 }) {
			t.Errorf("%s: the headless service has the ports %v", name, monitor.Spec.Ports)
		}
		named[*policy.PodDisruptionBudget](t, all, "seine-nats")
	}
}

// natsConfig is the configuration of the official chart as a file, with the folder of the installation where the chart
// mounts it.
func natsConfig(t *testing.T, text, installation string) string {
	t.Helper()
	dir := t.TempDir()
	config := named[*core.ConfigMap](t, official(t, text), "seine-nats-config").Data["nats.conf"]
	for _, r := range [][2]string{{"$SERVER_NAME", "seine-nats-0"}, {"/var/run/nats/nats.pid", filepath.Join(dir, "pid")}, {`"/data"`, `"` + filepath.Join(dir, "data") + `"`}} {
		config = strings.ReplaceAll(config, r[0], r[1])
	}
	if installation != "" {
		config = strings.ReplaceAll(config, "/etc/nats-certs/nats", filepath.Join(installation, "server"))
		config = strings.ReplaceAll(config, "../nats-certs/nats", filepath.Join("..", filepath.Base(installation), "server"))
		dir = filepath.Join(filepath.Dir(installation), "nats-config")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "nats.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// nats-server takes the configuration of the chart; with the users that natsusers wrote, it lets in these, and no others.
func TestOfficialNATSChartConfiguresTheServer(t *testing.T) {
	o, err := server.ProcessConfigFile(natsConfig(t, `{}`, ""))
	if err != nil || !o.JetStream || o.JetStreamMaxStore != 16<<30 || o.HTTPPort != 8222 {
		t.Fatalf("%v: %+v", err, o)
	}
	text, err := os.ReadFile(filepath.Join(ChartFolder, "values-users.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	dir := installation(t, site)
	if o, err = server.ProcessConfigFile(natsConfig(t, string(text), dir)); err != nil {
		t.Fatal(err)
	}
	o.Host, o.Port, o.HTTPPort, o.NoSigs, o.NoLog = "127.0.0.1", server.RANDOM_PORT, 0, true, true
	s := natstest.Start(t, o)
	fetcher, err := connect.ReadContext(filepath.Join(dir, "users", "fetcher"))
	if err != nil {
		t.Fatal(err)
	}
	fetcher.NATS = "tls://localhost:" + strconv.Itoa(s.Addr().(*net.TCPAddr).Port)
	bus, err := fetcher.Dial("test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	bus.Close()
	stranger := connect.Options{NATS: fetcher.NATS, CA: fetcher.CA}
	if bus, err := stranger.Dial("test", slog.New(slog.DiscardHandler)); err == nil {
		bus.Close()
		t.Error("who has no certificate is let in")
	}
}

// The values of users are right without the official chart, too.
func TestValuesOfUsersAreTaken(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(ChartFolder, "values-users.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	v := values(t, string(text))
	if js, err := json.Marshal(v); err != nil || !strings.Contains(string(js), "users.conf") {
		t.Errorf("%s, %v", js, err)
	}
	for _, w := range workloads(rendered(t, string(text))) {
		if w.environment()["SEINE_NATS_CONTEXT"] == "" {
			t.Errorf("%s logs in as nobody", &w)
		}
	}
	var defaults map[string]any
	file, err := os.ReadFile(filepath.Join(ChartFolder, "values.yaml"))
	if err != nil || yaml.UnmarshalStrict(file, &defaults) != nil {
		t.Errorf("values.yaml: %v", err)
	}
}
