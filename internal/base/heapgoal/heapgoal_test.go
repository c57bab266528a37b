package heapgoal

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestPercentLetsSoMuchGarbageGrow(t *testing.T) {
	const mib = 1 << 20
	g := goal{48 * mib, 0.25}
	for alive, want := range map[uint64]int{
		0: 1200, 1 * mib: 1200, 8 * mib: 600, 48 * mib: 100, 96 * mib: 50, 192 * mib: 25, 4096 * mib: 25,
	} {
		if got := g.percent(alive); got != want {
			t.Errorf("with %d MiB alive the percentage is %d, want %d", alive/mib, got, want)
		}
	}
}

// The first collection, before which nothing counts as alive, comes when the heap has so much.
func TestFirstCollectionComes(t *testing.T) {
	if out, err := exec.Command(os.Args[0], "-test.run", "^TestAllocating$").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestAllocating is the process of TestFirstCollectionComes.
func TestAllocating(t *testing.T) {
	var st runtime.MemStats
	for range 100 {
		kept = make([]byte, 1<<20)
	}
	if runtime.ReadMemStats(&st); st.NumGC == 0 {
		t.Error("100 MiB were allocated, and nothing was collected")
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
