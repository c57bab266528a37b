// Package heapgoal lets the heap of a process that imports it grow more before the collector runs. GOGC alone lets garbage
// grow to as much as is alive. That is too little for a small process, which then spends a tenth of its time
// collecting a heap of a few MiB, and too much for one with large buffers that live long. Where the environment has GOGC,
// that counts alone.
package heapgoal

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Garbage grows to so many bytes, or to a share of the live heap if that is more.
const (
	garbageBytes = 48 << 20
	garbageShare = 0.25
)

// leastHeap is the heap at which GOGC=100 first collects; a larger GOGC makes it larger in proportion.
const leastHeap = 4 << 20

// init sets the goal before most packages are initialized, since this one imports only small packages of the standard library.
// Initialization allocates 4 MB, at which Go would collect: that takes a fifth of the start of a process.
func init() {
	if os.Getenv("GOGC") == "" {
		setPercent()
	}
}

// sentinel is unreachable at once, so that its finalizer runs after the next collection.
type sentinel struct{ _ [16]byte }

// setPercent sets the percentage for the live heap of the last collection, and again after each that follows.
func setPercent() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(percentFor(live[0].Value.Uint64()))
	runtime.SetFinalizer(new(sentinel), func(*sentinel) { setPercent() })
}

// percentFor returns the GOGC for a live heap of so many bytes.
func percentFor(live uint64) int {
	return int(math.Round(100 * max(garbageShare, garbageBytes/float64(max(live, leastHeap)))))
}
