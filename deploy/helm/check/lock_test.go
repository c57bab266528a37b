package check

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"testing"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

// Chart.lock has the digest of Chart.yaml's dependencies, without which helm dependency build refuses it as out of sync.
func TestLockIsOfTheDependencies(t *testing.T) {
	c, err := loader.Load(ChartFolder)
	if err != nil || c.Lock == nil {
		t.Fatal("no Chart.lock", err)
	}
	text, err := json.Marshal([2][]*chart.Dependency{c.Metadata.Dependencies, c.Lock.Dependencies})
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256(text)); c.Lock.Digest != want {
		t.Errorf("the digest is %s, want %s", c.Lock.Digest, want)
	}
}
