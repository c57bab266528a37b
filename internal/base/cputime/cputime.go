// Package cputime returns how much processor time this process has used, for callers
// that bound what something costs: the clock on the wall says more about what
// else the machine was doing.
package cputime
