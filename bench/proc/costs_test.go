package proc

import (
	"os"
	"runtime"
	"testing"
)

func TestCostsOfThisProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	rss, peak, err := Memory(os.Getpid())
	if err != nil || rss < 1<<20 || peak < rss/2 {
		t.Errorf("rss %d, peak %d, error %v", rss, peak, err)
	}
	before, err := CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for now := before; now == before && err == nil; {
		now, err = CPU(os.Getpid()) // which takes time itself
	}
	busy, err := Busy()
	if err != nil || busy <= before {
		t.Errorf("all cores %g s, this process %g s, error %v", busy, before, err)
	}
}
