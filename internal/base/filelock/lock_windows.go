package filelock

import (
	"os"

	"golang.org/x/sys/windows"
)

// far is the offset of the locked byte. A lock blocks reads of its range, and some of these files
// contain text.
const far = 1 << 30

// lock locks an open file; with wait it waits for the lock.
func lock(f *os.File, wait bool) error {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		how |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: far})
}
