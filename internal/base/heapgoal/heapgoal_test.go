package heapgoal

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
	kept = make([]byte, 96<<20)
	for percentNow() != 50 { // 48 MiB
		runtime.GC()
		time.Sleep(time.Millisecond) // finalizers run beside
	}
	runtime.KeepAlive(kept)
}

func TestPercentageOfTheEnvironmentStays(t *testing.T) {
	t.Setenv("GOGC", "77")
	before := percentNow()
	if follow(&goal{bytes: 1 << 20, share: 0.5}); percentNow() != before {
		t.Errorf("the percentage is %d where the environment has another", percentNow())
	}
}
