//go:build !race

package state

// defaultCases is how many cases the model test runs unless -rapid.checks says
// otherwise; each has about defaultSteps actions.
const defaultCases = 2000

// withRace is whether the race detector is on, under which what fills whole partitions and tables takes a minute, as well without goroutines.
const withRace = false

// oneCaseIn is of how many cases of a long table one runs.
const oneCaseIn = 1
