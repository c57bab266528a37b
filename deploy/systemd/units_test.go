// Package systemd holds the units to what systemd thinks of them.
package systemd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const units = "usr/lib/systemd/system"

// root makes a folder in which the units and what they start are where the packages put them.
func root(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no systemd-analyze (scripts/systemd brings it)")
		}
		t.Skip("there is no systemd-analyze: make systemd")
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, units), os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	// What every system has.
	for _, name := range []string{"sysinit", "basic", "shutdown", "network-online", "multi-user", "system.slice", "-.slice", "-.mount"} {
		if !strings.Contains(name, ".") {
			name += ".target"
		}
		write(t, filepath.Join(dir, units, name), "[Unit]\nDefaultDependencies=no\n", 0o644)
	}
	for _, command := range []string{"lib/seine/frontier", "lib/seine/fetcher", "lib/seine/renderer", "lib/seine/parser", "lib/seine/writer", "lib/seine/nats-server", "bin/seine"} {
		write(t, filepath.Join(dir, "usr", command), "#!/bin/sh\n", 0o755)
	}
	write(t, filepath.Join(dir, "bin/kill"), "#!/bin/sh\n", 0o755)
	return dir
}

func write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// services are the units of this folder.
func services(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("*.service")
	if err != nil || len(names) != 7 {
		t.Fatalf("there are %q, %v", names, err)
	}
	return names
}

func TestSystemdAcceptsTheUnits(t *testing.T) {
	args := append([]string{"--man=no", "--root=" + root(t), "verify"}, services(t)...)
	if out, err := exec.Command("systemd-analyze", args...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// Of 10, as systemd counts how much a unit could do to its machine: 9.6 is one without any line for that. A browser needs
// namespaces and makes code.
func TestUnitsCouldDoLittle(t *testing.T) {
	dir := root(t)
	level := regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+)`)
	for _, name := range services(t) {
		most := "15"
		if name == "seine-renderer.service" {
			most = "30"
		}
		out, err := exec.Command("systemd-analyze", "security", "--no-pager", "--offline=true", "--root="+dir, "--threshold="+most, name).CombinedOutput()
		m := level.FindSubmatch(out)
		if err != nil || m == nil {
			t.Errorf("%s: %v\n%s", name, err, out)
			continue
		}
		t.Logf("%s: %s", name, m[1])
	}
}

// A unit starts again however often it has failed: the cause, as a disk that is full, may last for hours.
func TestUnitsStartAgainForEver(t *testing.T) {
	text, err := os.ReadFile("seine-.service.d/10-hardening.conf")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"Restart=on-failure", "StartLimitIntervalSec=0"} {
		if !strings.Contains(string(text), "\n"+line+"\n") {
			t.Errorf("the units lack %s", line)
		}
	}
}
