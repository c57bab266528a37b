package stages

import (
	"context"
	"sync/atomic"
	"time"

	"seine/internal/base/bootclock"
	"seine/internal/base/sleep"
	"seine/pkg/messages"
)

const (
	// pulseEvery is how often a process notes that it runs.
	pulseEvery = time.Second
	// stallThreshold is how long without that it must have been stalled: stopped, or its
	// machine paused or put to sleep. What it held may be another's by then, as after
	// AckWait, and the last sign of life was up to a third of that before.
	stallThreshold = messages.AckWait / 3
)

// stallDetector reports whether this process was stalled. After a stall, a process still holds messages
// that the server has given to others meanwhile.
type stallDetector struct{ last atomic.Int64 } // by bootclock.Now; 0: not started

func (d *stallDetector) tick() { d.last.Store(int64(bootclock.Now())) }

// stalled reports whether the process was stalled, and its pulse has not been taken
// since.
func (d *stallDetector) stalled() bool {
	last := d.last.Load()
	return last > 0 && bootclock.Now()-time.Duration(last) > stallThreshold
}

// watch marks everything as stale when the process was stalled, and checks the connection, until ctx is
// done.
func (b *Bus) watch(ctx context.Context) {
	for b.pulse.tick(); sleep.For(ctx, pulseEvery) == nil; b.pulse.tick() {
		if b.pulse.stalled() {
			b.Log.Warn("this process was suspended and checks its in-flight messages again")
			b.MarkStale()
		}
		b.Refusals.checkHandshake()
	}
}

// StableSince reports whether nothing has happened since began that makes stale what
// was not at that time. It is called right before a request is sent: whatever
// was waited for may have taken long.
func (b *Bus) StableSince(began time.Time) bool {
	doubt := b.staleBefore.Load()
	return b.NC.IsConnected() && !b.pulse.stalled() && (doubt == nil || doubt.Before(began))
}
