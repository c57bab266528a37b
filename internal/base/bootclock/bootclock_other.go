//go:build !linux

// Package bootclock reads a monotonic clock.
package bootclock

import "time"

var processBegan = time.Now()

// Now is the time since the process was started; on most systems without what the
// machine slept.
func Now() time.Duration { return time.Since(processBegan) }

// Clock names the clock that Now reads, for readings of several processes to be
// compared; "", as it is that of this process alone.
func Clock() string { return "" }
