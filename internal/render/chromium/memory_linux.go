package chromium

import (
	"slices"
	"syscall"

	"seine/internal/base/procfs"
)

// KillLargePages kills the processes of pages that use more than this many bytes of memory. Only
// these pages crash. It works only on Linux; elsewhere it does nothing.
func (b *Browser) KillLargePages(most int64) {
	for _, pid := range procfs.InGroup(b.ID()) {
		if procfs.Resident(pid) > most && slices.Contains(procfs.CommandLine(pid), "--type=renderer") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
