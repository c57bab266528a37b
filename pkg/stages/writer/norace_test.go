//go:build !race

package writer

// withRace reports whether the race detector is on. It cannot see the processes that the crash
// tests kill, and makes these tests take minutes, so they run without it.
const withRace = false
