//go:build race

package extract

// withRace is whether the race detector is on. It makes tests with the largest values take
// minutes, and has nothing to find in those that are in one goroutine: they run without it.
const withRace = true
