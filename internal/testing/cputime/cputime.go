// Package cputime tells how much processor time this process has used, for tests
// that bound what something costs: the clock on the wall says more about what
// else the machine was doing.
package cputime

import (
	"syscall"
	"time"
)

// Used returns the processor time of the process so far, of all threads, in user
// and system mode.
func Used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // it has no other error than a wrong argument
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Of returns the processor time that the process uses while f runs.
func Of(f func()) time.Duration {
	before := Used()
	f()
	return Used() - before
}
