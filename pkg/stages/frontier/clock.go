package frontier

import (
	"time"

	"seine/internal/base/bootclock"
)

// clock is the time of day as a process sees it: that of the machine when the process
// began, and what has passed since. A clock that is set meanwhile, by a person or by
// NTP, counts from the next start on.
type clock struct {
	began  int64         // Unix ns
	start  time.Duration // the uptime then
	uptime func() time.Duration
	name   string // of the clock that uptime reads, "" if it is of this process alone
}

func newClock() *clock {
	return &clock{began: time.Now().UnixNano(), start: bootclock.Now(), uptime: bootclock.Now, name: bootclock.Clock()}
}

// now is Unix ns.
func (c *clock) now() int64 { return c.at(c.uptime()) }

// at is what now is at an uptime.
func (c *clock) at(uptime time.Duration) int64 { return c.began + int64(uptime-c.start) }
