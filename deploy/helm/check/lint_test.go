package check

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
)

// helm lint --strict has nothing to say, with the values of every case. The official NATS chart, which is not brought here,
// is stood in for by one without objects.
func TestLintStrict(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "seine")
	if err := os.CopyFS(dir, os.DirFS(ChartFolder)); err != nil {
		t.Fatal(err)
	}
	nats := filepath.Join(dir, "charts", "nats")
	if err := os.MkdirAll(nats, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(nats, "Chart.yaml"), []byte("apiVersion: v2\nname: nats\nversion: 2.14.2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(Cases)) {
		for _, m := range lint.RunAll(dir, values(t, Cases[name]), Namespace).Messages {
			if m.Severity >= support.WarningSev {
				t.Errorf("%s: %s", name, m)
			}
		}
	}
}
