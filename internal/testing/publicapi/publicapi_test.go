// Package publicapi tests that other modules can use the packages in pkg.
package publicapi

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
)

const root = "../../.."

// run runs a command in a folder and returns its output.
func run(t *testing.T, dir string, command ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), command[0], command[1:]...) //nolint:gosec // a command of this test
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return string(out)
}

// Another module builds a stage that reads records and a parser with an extractor, following
// examples/README.md. The stage works.
func TestOutsideModule(t *testing.T) {
	t.Parallel()
	seine, err := filepath.Abs(root)
	check(t, err)
	dir := t.TempDir()
	for _, example := range []string{"stage", "extractor"} {
		check(t, os.CopyFS(filepath.Join(dir, example), os.DirFS(filepath.Join(root, "examples", example))))
	}
	tests, err := filepath.Glob(filepath.Join(dir, "*", "*_test.go")) // they use more than pkg
	check(t, err)
	for _, file := range tests {
		check(t, os.Remove(file))
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	check(t, err)
	check(t, os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600))
	run(t, dir, "go", "mod", "init", "example.org/crawl")
	run(t, dir, "go", "mod", "edit", "-require=seine@v0.0.0", "-replace=seine="+seine)
	run(t, dir, "go", "build", "-mod=mod", "-o", dir+"/bin/", "./...")

	broker := natstest.NewBroker(t)
	bus, _ := stagestest.Dial(t, broker.URL())
	check(t, bus.Provision(t.Context(), 1, messages.DefaultStreamLimits(), 1))
	record, err := json.Marshal(messages.Record{URL: "https://example.org/", Title: "Example Domain", Crawl: "demo"})
	check(t, err)
	for _, data := range [][]byte{record, []byte("{")} {
		_, err = bus.JS.Publish(t.Context(), "seine.records.demo.0", data)
		check(t, err)
	}
	c := exec.CommandContext(t.Context(), filepath.Join(dir, "bin", "stage"), "--nats", broker.URL(), "--listen", "off") //nolint:gosec // built here
	var out bytes.Buffer
	c.Stdout = &out
	check(t, c.Start())
	await.Eventually(t, "the good record is handled, and the bad one is in DEAD", func() bool {
		consumer, err := bus.JS.Consumer(t.Context(), messages.StreamRecords, "titles")
		if err != nil {
			return false
		}
		_, dead := natstest.StreamOf(t, bus.JS, messages.StreamDead).GetLastMsgForSubject(t.Context(), "seine.dead.titles.>")
		return consumer.CachedInfo().AckFloor.Stream == 2 && dead == nil
	})
	check(t, c.Process.Signal(syscall.SIGTERM))
	if err := c.Wait(); err != nil || out.String() != "Example Domain\thttps://example.org/\n" {
		t.Errorf("the stage ended with %v and wrote %q", err, out.String())
	}
}

// After scripts/rename-module no package has its former path.
func TestRenamedModule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for file := range strings.Lines(run(t, root, "git", "ls-files", "--cached", "--others", "--exclude-standard")) {
		file = strings.TrimSuffix(file, "\n")
		text, err := os.ReadFile(filepath.Join(root, file))
		if os.IsNotExist(err) { // removed, but not committed yet
			continue
		}
		check(t, err)
		check(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o700))
		info, err := os.Stat(filepath.Join(root, file))
		check(t, err)
		check(t, os.WriteFile(filepath.Join(dir, file), text, info.Mode()))
	}
	run(t, dir, "git", "init", "-q")
	run(t, dir, "git", "add", "-A")
	run(t, dir, "scripts/rename-module", "example.org/new/seine")
	for _, module := range []string{".", "bench", "deploy/helm/check"} {
		for p := range strings.Lines(run(t, filepath.Join(dir, module), "go", "list", "-test", "-deps", "./...")) {
			if strings.HasPrefix(p, "seine") {
				t.Errorf("%s: package %s", module, p)
			}
		}
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "scripts", "rename-module"), "nodot").CombinedOutput() //nolint:gosec // copied here
	if err == nil || !strings.Contains(string(out), "has a dot") {
		t.Errorf("a path without a dot: %v, %s", err, out)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
