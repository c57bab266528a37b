//go:build race

package state

// defaultCases is how many cases the model test runs unless -rapid.checks is set; each has about
// defaultSteps actions. A model has no goroutines and so no races, and the detector makes it ten
// times slower: all cases run without it.
const defaultCases = 30

// withRace reports whether the race detector is on. It makes tests that fill complete partitions
// and tables take a minute, even without goroutines.
const withRace = true

// oneCaseIn selects one of so many cases of a long table. Cases differ in the contents of a store,
// not in the goroutines that read it: all cases run without the detector.
const oneCaseIn = 14
