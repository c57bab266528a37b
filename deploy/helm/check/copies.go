package check

import (
	"fmt"
	"os"
	"path/filepath"
)

// Generated returns what is made from other files of the repository, by path: copies in the chart, since Helm reads nothing
// outside of it; the schema; and the rendering for kubectl. Dir has the commands.
func Generated(dir string) (map[string][]byte, error) {
	all := make(map[string][]byte)
	kubernetes := filepath.Join(Root, "deploy/kubernetes")
	for to, from := range map[string]string{
		filepath.Join(ChartFolder, "files/rules.yml"):  "deploy/prometheus/rules.yml",
		filepath.Join(ChartFolder, "files/seine.json"): "deploy/grafana/dashboards/seine.json",
		filepath.Join(kubernetes, "nats-server.conf"):  "deploy/nats/nats-server.conf",
	} {
		text, err := os.ReadFile(filepath.Join(Root, from))
		if err != nil {
			return nil, fmt.Errorf("read what is copied: %w", err)
		}
		all[to] = text
	}
	var err error
	if all[SchemaFile], err = Schema(dir); err != nil {
		return nil, err
	}
	if all[filepath.Join(kubernetes, "seine.yaml")], err = KubectlText(); err != nil {
		return nil, err
	}
	return all, nil
}
