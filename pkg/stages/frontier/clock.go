package frontier

import (
	"time"

	"seine/internal/uptime"
)

// clock is the time of day by which hosts are paced: that of the machine when the
// process began, and what has passed since. A clock that is set meanwhile, by a
// person or by NTP, would let delays pass in a moment, or last for hours; what it
// says counts from the next start on.
type clock struct {
	began  int64 // Unix ns
	uptime time.Duration
}

func newClock() clock { return clock{time.Now().UnixNano(), uptime.Now()} }

// now is Unix ns.
func (c clock) now() int64 { return c.began + int64(uptime.Now()-c.uptime) }
