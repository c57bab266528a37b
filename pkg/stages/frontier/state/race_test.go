//go:build race

package state

// defaultCases is how many cases the model test runs unless -rapid.checks says
// otherwise; each has about defaultSteps actions. A model has no goroutines and so
// no races, and the detector makes it ten times slower: all cases run without it.
const defaultCases = 100

// withRace is whether the race detector is on, under which what fills whole partitions and tables takes a minute, as well without goroutines.
const withRace = true
