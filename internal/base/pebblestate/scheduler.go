package pebblestate

import "github.com/cockroachdb/pebble/v2"

// Scheduler returns a scheduler of compactions for one store, which runs one at a time (Pebble's
// default). Pebble's own scheduler also polls ten times a second for the permission to run more,
// which keeps an idle process awake.
func Scheduler() pebble.CompactionScheduler {
	return pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
}
