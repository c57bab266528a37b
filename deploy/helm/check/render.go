package check

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	commonutil "helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"
)

// Root is the top folder of the repository, as seen from this package.
const Root = "../../.."

// ChartFolder is the chart.
const ChartFolder = "../seine"

// Release and Namespace are those that charts are rendered for.
const (
	Release   = "seine"
	Namespace = "seine"
)

// Values are values for the chart, nested as in a file of values.
type Values = map[string]any

// Rendered is what the chart makes of some values: the text of each template by its path, without those that are empty.
type Rendered map[string]string

// Render renders the chart with its defaults and the values over them, as `helm template` does. The NATS chart is loaded
// from nats, a folder or an archive; empty is a chart without objects.
func Render(values Values, nats string) (Rendered, error) {
	c, err := load(nats)
	if err != nil {
		return nil, err
	}
	if err := chartutil.ProcessDependencies(c, values); err != nil {
		return nil, fmt.Errorf("process dependencies: %w", err)
	}
	all, err := commonutil.ToRenderValues(c, values, common.ReleaseOptions{Name: Release, Namespace: Namespace, Revision: 1, IsInstall: true}, common.DefaultCapabilities)
	if err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	r := make(Rendered)
	for name, text := range files {
		if strings.TrimSpace(text) != "" {
			r[strings.TrimPrefix(name, c.Name()+"/")] = text
		}
	}
	return r, nil
}

func load(nats string) (*chart.Chart, error) {
	c, err := loader.Load(ChartFolder)
	if err != nil {
		return nil, fmt.Errorf("load chart: %w", err)
	}
	sub := &chart.Chart{Metadata: &chart.Metadata{APIVersion: chart.APIVersionV2, Name: "nats", Version: "2.14.2"}}
	if nats != "" {
		if sub, err = loader.Load(nats); err != nil {
			return nil, fmt.Errorf("load the NATS chart: %w", err)
		}
	}
	c.SetDependencies(sub)
	return c, nil
}

// Documents returns the YAML documents of the templates, in the order of their paths, without the notes and the tests.
func (r Rendered) Documents() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if filepath.Ext(name) != ".yaml" || strings.HasPrefix(name, "templates/tests/") {
			continue
		}
		all = append(all, split(r[name])...)
	}
	return all
}

// split returns the documents of a YAML text that have anything in them.
func split(text string) (all []string) {
	for _, doc := range strings.Split("\n"+text, "\n---") {
		var v any
		if err := yaml.Unmarshal([]byte(doc), &v); err != nil || v != nil {
			all = append(all, strings.Trim(doc, "\n")+"\n")
		}
	}
	return all
}

// KubectlText is the rendering for kubectl and kustomize: the defaults, without the labels that say that Helm manages them.
func KubectlText() ([]byte, error) {
	r, err := Render(Values{}, "")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("# Rendered from deploy/helm/seine with its defaults by `go generate` in deploy/helm/check: do not edit.\n")
	for _, doc := range r.Documents() {
		b.WriteString("---\n")
		for line := range strings.Lines(doc) {
			if l := strings.TrimSpace(line); !strings.HasPrefix(l, "helm.sh/chart:") && !strings.HasPrefix(l, "app.kubernetes.io/managed-by:") {
				b.WriteString(line)
			}
		}
	}
	return b.Bytes(), nil
}
