// Package cputime returns how much processor time this process has used, for callers
// that bound what something costs: the clock on the wall says more about what
// else the machine was doing.
package cputime

import "time"

// Of returns the processor time that the process uses while f runs.
func Of(f func()) time.Duration {
	before := Used()
	f()
	return Used() - before
}
