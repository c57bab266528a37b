// Package packaging holds the deb and rpm packages to what there is to be packed.
package packaging

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// contents returns where the packages take their files from, below the folder that scripts/release makes, and where they go.
func contents(t *testing.T) (sources, dsts []string) {
	t.Helper()
	text, err := os.ReadFile("../nfpm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Contents []struct{ Src, Dst, Type string }
	}
	if err := yaml.Load(text, &c); err != nil {
		t.Fatal(err)
	}
	for _, f := range c.Contents {
		dsts = append(dsts, f.Dst)
		if f.Type != "symlink" {
			sources = append(sources, f.Src)
		}
	}
	return sources, dsts
}

func matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if ok, _ := path.Match(p, name); ok {
			return true
		}
	}
	return false
}

func TestPackagesHaveEveryCommandAndUnit(t *testing.T) {
	sources, _ := contents(t)
	commands, err := os.ReadDir("../../cmd")
	if err != nil || len(commands) == 0 {
		t.Fatal(err)
	}
	for _, c := range commands {
		if !matches(sources, c.Name()) {
			t.Errorf("deploy/nfpm.yaml lacks the command %s", c.Name())
		}
	}
	err = fs.WalkDir(os.DirFS("../systemd"), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(name, ".go") && !matches(sources, "systemd/"+name) {
			t.Errorf("deploy/nfpm.yaml lacks deploy/systemd/%s", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// What a unit starts, and which options it reads, is where the packages put it.
func TestUnitsStartWhatIsInstalled(t *testing.T) {
	_, dsts := contents(t)
	units, err := filepath.Glob("../systemd/*.service")
	if err != nil || len(units) == 0 {
		t.Fatal(err)
	}
	for _, unit := range units {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if command, found := strings.CutPrefix(line, "ExecStart="); found && !matches(dsts, strings.Fields(command)[0]) {
				t.Errorf("%s starts %s, which the packages lack", unit, command)
			}
			file, found := strings.CutPrefix(strings.TrimSpace(line), "EnvironmentFile=-/etc/seine/")
			if _, err := os.Stat(filepath.Join("../systemd/etc", file)); found && err != nil {
				t.Errorf("%s reads options that nobody is told of: %v", unit, err)
			}
		}
	}
}
