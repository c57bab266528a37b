package check

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	"sigs.k8s.io/yaml"
)

// runbookURL is the address of the runbook of an alert, up to the folder docs.
var runbookURL = regexp.MustCompile(`(runbook_url: )\S+/docs/`)

// chartHome is the address of the project, which the chart names.
func chartHome() (string, error) {
	text, err := os.ReadFile(filepath.Join(ChartFolder, "Chart.yaml"))
	if err != nil {
		return "", fmt.Errorf("read the chart: %w", err)
	}
	var m chart.Metadata
	if err := yaml.UnmarshalStrict(text, &m); err != nil {
		return "", fmt.Errorf("Chart.yaml: %w", err)
	}
	return m.Home, nil
}

// Generated returns what is made from other files of the repository, by path: copies in the chart, since Helm reads nothing
// outside of it; the schema; and the rendering for kubectl. Dir has the commands.
func Generated(dir string) (map[string][]byte, error) {
	all := make(map[string][]byte)
	kubernetes := filepath.Join(Root, "deploy/kubernetes")
	for to, from := range map[string]string{
		filepath.Join(ChartFolder, "files/seine.json"): "deploy/grafana/dashboards/seine.json",
		filepath.Join(kubernetes, "nats-server.conf"):  "deploy/nats/nats-server.conf",
	} {
		text, err := os.ReadFile(filepath.Join(Root, from))
		if err != nil {
			return nil, fmt.Errorf("read what is copied: %w", err)
		}
		all[to] = text
	}
	home, err := chartHome()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"rules.yml", "rules_test.yml"} {
		file := filepath.Join(Root, "deploy/prometheus", name)
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the rules: %w", err)
		}
		all[file] = runbookURL.ReplaceAll(text, []byte("${1}"+home+"/docs/"))
	}
	all[filepath.Join(ChartFolder, "files/rules.yml")] = all[filepath.Join(Root, "deploy/prometheus/rules.yml")]
	if all[SchemaFile], err = Schema(dir); err != nil {
		return nil, err
	}
	if all[filepath.Join(kubernetes, "seine.yaml")], err = KubectlText(); err != nil {
		return nil, err
	}
	return all, nil
}
