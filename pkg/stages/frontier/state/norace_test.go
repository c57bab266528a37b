//go:build !race

package state

// defaultCases is how many cases the model test runs unless -rapid.checks says
// otherwise; each has about defaultSteps actions.
const defaultCases = 2000
