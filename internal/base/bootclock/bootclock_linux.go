// Package bootclock reads a monotonic clock that also counts suspended time.
package bootclock

import (
	"os"
	"strings"
	"sync"
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

// Clock names the clock that Now reads, and is "" where that is unknown. Two
// readings in different processes can be compared if they are of the same clock: it
// is that of one start of one machine, or of one of its time namespaces.
var Clock = sync.OnceValue(func() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/time")
	if err != nil && !os.IsNotExist(err) { // older than Linux 5.6, there are none
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
})
