package heapgoal

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"seine/internal/testing/await"
)

func TestPercentForALiveHeap(t *testing.T) {
	const mib = 1 << 20
	for live, want := range map[uint64]int{
		0: 1200, 1 * mib: 1200, 8 * mib: 600, 48 * mib: 100, 96 * mib: 50, 192 * mib: 25, 4096 * mib: 25,
	} {
		if got := percentFor(live); got != want {
			t.Errorf("with %d MiB alive the percentage is %d, want %d", live/mib, got, want)
		}
	}
}

var kept []byte // so that the collector does not free it

func TestPercentageFollowsTheLiveHeap(t *testing.T) {
	kept = make([]byte, 96<<20)
	await.Eventually(t, "let 48 MiB grow beside 96", func() bool { runtime.GC(); return percentNow() == 50 })
	runtime.KeepAlive(kept)
}

// percentNow returns the current percentage without changing it.
func percentNow() int {
	p := debug.SetGCPercent(100)
	debug.SetGCPercent(p)
	return p
}

// A new process has no live heap yet, but its first collection is at the goal all the same. With
// GOGC set, GOGC applies.
func TestGoalOfANewProcess(t *testing.T) {
	for _, gogc := range []string{"", "77"} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestChildProcess$")
		cmd.Env = append(os.Environ(), "GOGC="+gogc)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("GOGC=%s: %v: %s", gogc, err, out)
		}
	}
}

// TestChildProcess is run by TestGoalOfANewProcess.
func TestChildProcess(t *testing.T) {
	for range 100 {
		kept = make([]byte, 1<<20)
	}
	var stats runtime.MemStats
	if runtime.ReadMemStats(&stats); stats.NumGC == 0 {
		t.Error("100 MiB were allocated, and nothing was collected")
	}
	if gogc := os.Getenv("GOGC"); gogc != "" && gogc != strconv.Itoa(percentNow()) {
		t.Errorf("the percentage is %d, GOGC is %s", percentNow(), gogc)
	}
}
