package cputime

import (
	"syscall"
	"time"
)

// Used returns the CPU time of the process so far, of all threads, in user and kernel mode.
func Used() time.Duration {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var began, ended, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &began, &ended, &kernel, &user); err != nil {
		return 0
	}
	return length(kernel) + length(user)
}

// length converts a duration, which Windows counts in units of 100 ns.
func length(f syscall.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}
