package browser

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"seine/internal/base/procfs"
	"seine/internal/render/chromium"
)

// Path returns the executable of Chromium. Without it the test fails in CI and is skipped
// elsewhere.
func Path(t testing.TB) string {
	t.Helper()
	path, err := chromium.Find("")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("Chromium is not installed: run scripts/chromium")
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Folder returns a folder for browser profiles that is removed at the end of the test. It is
// writable by everyone, because root runs the browser as another user.
func Folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "seine-browsers-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil { //nolint:gosec // see above
		t.Fatal(err)
	}
	return dir
}

// Processes returns the ids of browser processes whose profiles are below a folder. Processes that
// name the folder in another argument do not count. Without /proc it returns none.
func Processes(folder string) (ids []int) { return WithArgument("--user-data-dir=" + folder) }

// WithArgument returns the ids of processes that have an argument with a prefix.
func WithArgument(prefix string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range all {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			continue
		}
		for _, arg := range procfs.CommandLine(pid) {
			if strings.HasPrefix(arg, prefix) {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}
