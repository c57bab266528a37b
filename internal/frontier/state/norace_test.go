//go:build !race

package state

// defaultCases is how many cases the model test runs unless -rapid.checks is set; each has about
// defaultSteps actions.
const defaultCases = 2000

// withRace reports whether the race detector is on. It makes tests that fill complete partitions
// and tables take a minute, even without goroutines.
const withRace = false

// oneCaseIn selects one of so many cases of a long table.
const oneCaseIn = 1
