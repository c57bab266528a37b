//go:build race

package state

// defaultCases is how many cases the model test runs unless -rapid.checks says
// otherwise; each has about defaultSteps actions. A model has no goroutines and so
// no races, and the detector makes it ten times slower: all cases run without it.
const defaultCases = 30

// withRace is whether the race detector is on, under which what fills whole partitions and tables takes a minute, as well without goroutines.
const withRace = true

// oneCaseIn is of how many cases of a long table one runs. What a case brings into a store
// differs, and not which goroutines look at it: all cases run without the detector.
const oneCaseIn = 14
