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

// Path returns the executable of a Chromium. Without one the test fails in CI, and is skipped elsewhere.
func Path(t testing.TB) string {
	t.Helper()
	path, err := chromium.Find("")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("there is no Chromium here: scripts/chromium installs it")
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Folder returns a folder for the profiles of browsers, which ends with the test. Root's browser is another user's, so all may
// use it.
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

// Processes are those of the browsers that have their profiles in a folder; not those that are told of the folder alone. Where
// there is no /proc, there are none.
func Processes(folder string) (ids []int) { return WithArgument("--user-data-dir=" + folder) }

// WithArgument returns the processes one of whose arguments begins so.
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
