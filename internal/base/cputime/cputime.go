// Package cputime returns the CPU time of this process, for bounds on the cost of an operation.
// Wall-clock time would include the load of other processes.
package cputime
