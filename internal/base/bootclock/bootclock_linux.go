// Package bootclock reads a monotonic clock that also counts suspended time.
package bootclock

import (
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the time since the start of the machine, including suspended time.
func Now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic(err) // only before Linux 2.6.39
	}
	return time.Duration(t.Nano())
}

// Clock identifies the clock of Now, "" if unknown. Readings in different processes are comparable
// if their clocks are the same: that of one boot of a machine, or of one of its time namespaces.
var Clock = sync.OnceValue(func() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/time")
	if err != nil && !os.IsNotExist(err) { // before Linux 5.6 there are no time namespaces
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
})
