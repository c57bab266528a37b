package check

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/strvals"
	"sigs.k8s.io/yaml"

	"seine/internal/base/version"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(ChartFolder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\\\n", " ")
}

var setFlag = regexp.MustCompile(`--set ([^ \n` + "`" + `]+)`)

// Every command of the README gives values that the chart takes.
func TestCommandsOfTheReadmeAreTaken(t *testing.T) {
	commands := 0
	for line := range strings.Lines(readme(t)) {
		v := Values{}
		for _, m := range setFlag.FindAllStringSubmatch(line, -1) {
			if err := strvals.ParseInto(m[1], v); err != nil {
				t.Errorf("%s: %v", m[1], err)
			}
		}
		if len(v) == 0 {
			continue
		}
		commands++
		if _, err := Render(v, ""); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if commands < 8 {
		t.Errorf("only %d commands were found", commands)
	}
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// Every block of values of the README is taken, too.
func TestValuesOfTheReadmeAreTaken(t *testing.T) {
	blocks := 0
	for _, m := range yamlBlock.FindAllStringSubmatch(readme(t), -1) {
		v := Values{}
		if err := yaml.UnmarshalStrict([]byte(m[1]), &v); err != nil {
			t.Errorf("%v\n%s", err, m[1])
		}
		if v["writers"] == nil && v["serve"] == nil || v["hosts"] != nil {
			continue // of natsusers, an adapter, kustomize
		}
		blocks++
		if v["serve"] != nil {
			v["serve"].(map[string]any)["enabled"] = true // by the command before it
		}
		if _, err := Render(v, ""); err != nil {
			t.Errorf("%v\n%s", err, m[1])
		}
	}
	if blocks != 4 {
		t.Errorf("%d blocks of values were found", blocks)
	}
}

// The chart is of this version of Seine, and the NATS server of its dependency knows what Seine needs (2.14).
func TestVersions(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(ChartFolder, "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var m chart.Metadata
	if err := yaml.UnmarshalStrict(text, &m); err != nil || m.AppVersion != version.Number {
		t.Errorf("the chart is of version %s, Seine of %s, %v", m.AppVersion, version.Number, err)
	}
	if d := m.Dependencies[0]; len(m.Dependencies) != 1 || d.Name != "nats" || d.Version != "^2.14.2" || d.Condition != "nats.enabled" {
		t.Errorf("dependencies: %v", d)
	}
}
