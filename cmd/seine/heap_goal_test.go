package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestPercentLetsSoMuchGarbageGrow(t *testing.T) {
	const mib = 1 << 20
	g := goal{48 * mib, 0.25}
	for alive, want := range map[uint64]int{
		0: 1_000_000, 1 * mib: 4800, 48 * mib: 100, 96 * mib: 50, 192 * mib: 25, 4096 * mib: 25,
	} {
		if got := g.percent(alive); got != want {
			t.Errorf("with %d MiB alive the percentage is %d, want %d", alive/mib, got, want)
		}
	}
}

// percentNow returns the percentage that counts, and leaves it.
func percentNow() int {
	p := debug.SetGCPercent(100)
	debug.SetGCPercent(p)
	return p
}

var kept []byte // by the collector

func TestPercentageFollowsWhatIsAlive(t *testing.T) {
	before := percentNow()
	t.Setenv("GOGC", "77")
	if setHeapGoal(1<<20, 0.5); percentNow() != before {
		t.Errorf("the percentage is %d where the environment has another", percentNow())
	}
	t.Setenv("GOGC", "")
	setHeapGoal(1<<20, 0.5)
	kept = make([]byte, 64<<20)
	for percentNow() != 50 { // a share of 64 MiB is more than 1 MiB
		runtime.GC()
		time.Sleep(time.Millisecond) // finalizers run beside
	}
	runtime.KeepAlive(kept)
}
