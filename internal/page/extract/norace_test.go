//go:build !race

package extract

// withRace reports whether the race detector is on. It makes tests with the largest values take
// minutes, and finds nothing in those with one goroutine: they run without it.
const withRace = false
