// Package heapgoal lets the heap of an importing process grow more before a garbage collection. By
// default, GOGC lets garbage grow to the size of the live heap. That is too little for a small
// process, which then spends a tenth of its time collecting a heap of a few MiB, and too much for a
// process with large, long-lived buffers. If the environment sets GOGC, that applies instead.
package heapgoal

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Garbage grows to garbageBytes, or to garbageShare of the live heap if that is more.
const (
	garbageBytes = 48 << 20
	garbageShare = 0.25
)

// leastHeap is the heap size of the first collection with GOGC=100; it grows in proportion to GOGC.
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
