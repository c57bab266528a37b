//go:build race

package testweb

// withRace is whether the race detector is on. What asks for thousands of pages in one
// goroutine has no races, and takes a minute with it.
const withRace = true
