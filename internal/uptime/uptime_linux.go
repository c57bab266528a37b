// Package uptime tells time by a clock that nobody sets.
package uptime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now is the time since the machine was started, with what it slept.
func Now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic(err) // older than Linux 2.6.39
	}
	return time.Duration(t.Nano())
}
