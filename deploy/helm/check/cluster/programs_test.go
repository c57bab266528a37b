package cluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"seine/deploy/helm/check"
	"seine/internal/testing/await"
)

// Packages run beside each other in folders of their own; the files of the chart are named from the one above.
func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// binaries is the folder of Seine's commands, where `make build` has them too.
const binaries = check.Root + "/bin"

// program is the path of a part of Kubernetes; without one the test is skipped.
func program(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("SEINE_KUBERNETES")
	if dir == "" {
		t.Skip("SEINE_KUBERNETES does not name the folder of Kubernetes' programs (make kubernetes builds them)")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("scripts/kubernetes has not built %s: %v", name, err)
	}
	return path
}

// daemon is a program that runs until the test ends.
type daemon struct {
	name string
	log  await.Log
	ends chan struct{}
}

// start runs a program until the test ends; the end of its log is shown where the test fails.
func start(t *testing.T, env []string, path string, args ...string) *daemon {
	t.Helper()
	s := &daemon{name: filepath.Base(path), ends: make(chan struct{})}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = &s.log, &s.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { defer close(s.ends); _ = cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-s.ends
		if t.Failed() {
			t.Logf("%s:\n%s", s.name, s.tail(15))
		}
	})
	return s
}

// runs fails the test when a server has ended.
func (s *daemon) runs(t *testing.T) {
	t.Helper()
	select {
	case <-s.ends:
		t.Fatalf("%s has ended:\n%s", s.name, s.tail(15))
	default:
	}
}

// tail is the end of its log.
func (s *daemon) tail(lines int) string { return tail(s.log.String(), lines) }

// tail are the last lines of a text.
func tail(text string, lines int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
