//go:build !race

package testweb

// withRace says whether the race detector is on. Tests that request thousands of pages in one
// goroutine have no races, but take a minute with it.
const withRace = false
