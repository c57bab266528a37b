//go:build race

package writer

// withRace is whether the race detector is on. It knows nothing of the processes
// that the crash tests kill, and makes these take minutes: they run without it.
const withRace = true
