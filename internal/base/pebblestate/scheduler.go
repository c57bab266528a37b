package pebblestate

import "github.com/cockroachdb/pebble/v2"

// Scheduler returns what starts the compactions of one store, which has one at a time (Pebble's default). Pebble's own also looks
// ten times a second whether more are allowed now, which keeps a process awake that has nothing to do.
func Scheduler() pebble.CompactionScheduler {
	return pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
}
