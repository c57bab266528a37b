//go:build !linux

// Package uptime tells time by a clock that nobody sets.
package uptime

import "time"

var processBegan = time.Now()

// Now is the time since the process was started; on most systems without what the
// machine slept.
func Now() time.Duration { return time.Since(processBegan) }
