//go:build !linux

// Package bootclock reads a monotonic clock.
package bootclock

import "time"

var processBegan = time.Now()

// Now returns the time since the start of the process. On most systems it excludes suspended time.
func Now() time.Duration { return time.Since(processBegan) }

// Clock identifies the clock of Now to compare readings of several processes. It is "", because
// this clock is private to the process.
func Clock() string { return "" }
