package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// GOGC alone lets garbage grow to as much as is alive. That is too little for a small process, which
// then spends a tenth of its time collecting a heap of a few MiB, and too much for one with large buffers
// that live long.

// setHeapGoal lets garbage grow to so many bytes, or to a share of what is alive if that is more, from now on. Where the
// environment has GOGC, that counts alone.
func setHeapGoal(bytes uint64, share float64) {
	if os.Getenv("GOGC") == "" {
		(&goal{bytes, share}).collected()
	}
}

// goal is how large the heap may grow before the collector runs.
type goal struct {
	bytes uint64
	share float64
}

// cycle is garbage at once, so that its finalizer runs after each cycle of the collector.
type cycle struct{ _ [16]byte }

// collected runs after each cycle: the percentage is of what that has found alive.
func (g *goal) collected() {
	alive := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(alive)
	debug.SetGCPercent(g.percent(alive[0].Value.Uint64()))
	runtime.SetFinalizer(new(cycle), func(*cycle) { g.collected() })
}

// percent is the GOGC by which so much garbage is let grow beside what is alive.
func (g *goal) percent(alive uint64) int {
	share := max(g.share, float64(g.bytes)/float64(max(alive, 1)))
	return int(min(math.Round(100*share), 1e6))
}
