package state

import "time"

// Clock returns the time of day: the machine's time at the start of the process plus the elapsed
// uptime. If a person or NTP sets the machine's clock meanwhile, that takes effect at the next
// start.
type Clock struct {
	began  int64         // Unix ns
	start  time.Duration // the uptime at that time
	uptime func() time.Duration
	name   string // of the clock that uptime reads, "" if it belongs to this process only
}

// NewClock returns a clock that starts at began, Unix ns. uptime returns the machine's uptime by
// the named clock; the name is "" for a clock of this process only.
func NewClock(began int64, uptime func() time.Duration, name string) *Clock {
	return &Clock{began: began, start: uptime(), uptime: uptime, name: name}
}

// Now returns the time in Unix ns.
func (c *Clock) Now() int64 { return c.at(c.uptime()) }

// at returns the time at an uptime.
func (c *Clock) at(uptime time.Duration) int64 { return c.began + int64(uptime-c.start) }
