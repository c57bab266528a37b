package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seine/internal/ops/overview"
)

// A machine without a browser is healthy while no crawl renders pages; a configured browser must
// exist.
func TestRendering(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	browser := filepath.Join(t.TempDir(), "chromium")
	if err := os.WriteFile(browser, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path  string
		level Level
		says  string
	}{
		"none on this machine": {"", OK, "this machine has no Chromium"},
		"named":                {browser, OK, "this machine has " + browser},
		"named, and not there": {browser + "-2", Fail, "chromium-2"},
	} {
		if f := rendering(new(overview.Overview), c.path); f.Level != c.level || !strings.Contains(f.What+f.Do, c.says) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
