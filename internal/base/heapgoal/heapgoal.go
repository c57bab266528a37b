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

// init sets the goal before most packages are initialized, since this one imports only small packages of the standard library.
// Initialization allocates 4 MB, at which Go would collect: that takes a fifth of the start of a process.
func init() { follow(&goal{bytes: 48 << 20, share: 0.25}) }

// follow sets the goal of the heap, and again after each collection.
func follow(g *goal) {
	if os.Getenv("GOGC") == "" {
		g.collected()
	}
}

// goal is how large the heap may grow before the collector runs: by so many bytes of garbage, or by a share of
// what is alive if that is more.
type goal struct {
	bytes uint64
	share float64
}

// cycle is unreachable at once, so that its finalizer runs after the next collection.
type cycle struct{ _ [16]byte }

// collected runs after each collection, and sets the percentage for what that has found alive.
func (g *goal) collected() {
	alive := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(alive)
	debug.SetGCPercent(g.percent(alive[0].Value.Uint64()))
	runtime.SetFinalizer(new(cycle), func(*cycle) { g.collected() })
}

// leastHeap is the heap at which GOGC=100 first collects; a larger GOGC makes it larger in proportion.
const leastHeap = 4 << 20

// percent is the GOGC by which so much garbage is let grow beside what is alive.
func (g *goal) percent(alive uint64) int {
	return int(math.Round(100 * max(g.share, float64(g.bytes)/float64(max(alive, leastHeap)))))
}
