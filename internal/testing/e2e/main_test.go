package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// bin is the folder of the commands under test.
var bin string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	if bin = os.Getenv("E2E_COMMANDS"); bin != "" { // they are built already
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "seine-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin = dir
	for _, pkgs := range [][]string{{"seine/cmd/..."}, {"github.com/nats-io/nats-server/v2"}} {
		out := dir + string(filepath.Separator)
		if len(pkgs) == 1 && pkgs[0] == "github.com/nats-io/nats-server/v2" {
			out = filepath.Join(dir, "nats-server")
		}
		// Without debugging tables, as in a release: linking is half the work.
		cmd := exec.Command("go", append([]string{"build", "-ldflags=-s -w", "-o", out}, pkgs...)...)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "build", pkgs, err)
			return 1
		}
	}
	return m.Run()
}
