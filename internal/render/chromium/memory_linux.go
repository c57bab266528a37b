package chromium

import (
	"slices"
	"syscall"

	"seine/internal/base/procfs"
)

// KillLargePages ends the processes of pages that have more than so many bytes of memory. Their pages crash, and no others. Linux
// alone tells; elsewhere nothing is ended.
func (b *Browser) KillLargePages(most int64) {
	for _, pid := range procfs.InGroup(b.ID()) {
		if procfs.Resident(pid) > most && slices.Contains(procfs.CommandLine(pid), "--type=renderer") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
