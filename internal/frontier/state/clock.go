package state

import "time"

// Clock is the time of day as a process sees it: that of the machine when the process
// began, and what has passed since. A clock that is set meanwhile, by a person or by
// NTP, counts from the next start on.
type Clock struct {
	began  int64         // Unix ns
	start  time.Duration // the uptime then
	uptime func() time.Duration
	name   string // of the clock that uptime reads, "" if it is of this process alone
}

// NewClock starts the clock with a time of day, Unix ns, and a function that returns how long the machine
// has been up, by a clock with a name, "" for a clock of this process alone.
func NewClock(began int64, uptime func() time.Duration, name string) *Clock {
	return &Clock{began: began, start: uptime(), uptime: uptime, name: name}
}

// Now is Unix ns.
func (c *Clock) Now() int64 { return c.at(c.uptime()) }

// at is what now is at an uptime.
func (c *Clock) at(uptime time.Duration) int64 { return c.began + int64(uptime-c.start) }
