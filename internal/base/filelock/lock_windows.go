package filelock

import (
	"os"

	"golang.org/x/sys/windows"
)

// far is where the locked byte is: a lock keeps others from reading what it covers, and some of these files have a text.
const far = 1 << 30

// lock locks an open file, or waits until it can.
func lock(f *os.File, wait bool) error {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		how |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: far})
}
