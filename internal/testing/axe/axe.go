// Package axe checks the accessibility of pages with axe-core, for tests: use by keyboard, with a
// screen reader and with weak eyesight. scripts/axe installs it.
package axe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"seine/internal/base/jsontext"
	"seine/internal/testing/browser"
)

// finding is a violation that axe-core reported.
type finding struct {
	ID     string `json:"id"`
	Impact string `json:"impact"`
	Help   string `json:"help"`
	Nodes  []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// Check fails the test for each serious or critical finding on the page of a tab. Without axe-core
// it fails in CI and skips the test elsewhere.
func Check(t *testing.T, tab *browser.Tab) {
	t.Helper()
	check(t, tab, "")
}

// CheckContrast is Check for colours only. It is for a page that Check has already checked in other
// colours.
func CheckContrast(t *testing.T, tab *browser.Tab) {
	t.Helper()
	check(t, tab, `, runOnly: ["color-contrast"]`)
}

func check(t *testing.T, tab *browser.Tab, options string) {
	t.Helper()
	tab.Eval(script(t)+";0", nil)
	var text string
	tab.EvalAsync(`axe.run(document, {resultTypes: ["violations"]`+options+`}).then(r => JSON.stringify(r.violations))`, &text)
	var found []finding
	if err := jsontext.Unmarshal([]byte(text), &found); err != nil {
		t.Fatalf("axe-core: %v: %.200s", err, text)
	}
	for _, f := range found {
		if f.Impact != "serious" && f.Impact != "critical" {
			continue
		}
		var where []string
		for _, n := range f.Nodes {
			where = append(where, fmt.Sprintf("%.200s\n\t\t%s", n.HTML, strings.ReplaceAll(n.Summary, "\n", "\n\t\t")))
		}
		t.Errorf("%s: %s (%s):\n\t%s", tab.Path(), f.Help, f.ID, strings.Join(where[:min(3, len(where))], "\n\t"))
	}
}

// script returns the source of axe-core.
func script(t *testing.T) string {
	t.Helper()
	source, err := readScript()
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") == "" {
		t.Skip("axe-core is not installed: run scripts/axe")
	}
	if err != nil {
		t.Fatal(err)
	}
	return source
}

var readScript = sync.OnceValues(func() (string, error) {
	text, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(filepath.Join(filepath.Dir(strings.TrimSpace(string(text))), ".cache", "axe", "node_modules", "axe-core", "axe.min.js"))
	return string(source), err
})
