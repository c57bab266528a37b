package stages

import (
	"testing"
	"time"

	"seine/internal/base/bootclock"
)

func TestProcessThatStoodStillSuspectsWhatItHolds(t *testing.T) {
	var b Bus
	m := &Message{Deliveries: 1, Stored: time.Now()}
	stale := func() bool { _, stale := b.MaybeStale(m); return stale }
	if stale() {
		t.Error("suspects a message although nobody keeps its pulse")
	}
	b.pulse.tick()
	if stale() {
		t.Error("suspects a message while it runs")
	}
	b.pulse.last.Store(int64(bootclock.Now() - stallThreshold - time.Second))
	if !stale() {
		t.Error("does not suspect what was delivered while it stood still")
	}
	b.MarkStale() // as watch does
	b.pulse.tick()
	if !stale() {
		t.Error("forgets that it stood still")
	}
	before := time.Now().Add(-time.Minute)
	b.staleBefore.Store(&before)
	if m.Stored = time.Now(); stale() {
		t.Error("suspects what was stored long after")
	}
	if m.Stored = time.Now().Add(time.Hour); !stale() {
		t.Error("believes a server whose clock is an hour ahead that it was stored after")
	}
}
