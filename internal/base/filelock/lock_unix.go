//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// lock locks an open file; with wait it waits for the lock.
func lock(f *os.File, wait bool) error {
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !wait || !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
