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
	// pulseEvery is how often a process records that it runs.
	pulseEvery = time.Second
	// stallThreshold is the time without a pulse after which the process counts as stalled:
	// stopped, or its machine paused or suspended. Its messages may have been redelivered to
	// others, as after AckWait; its last keep-alive was up to a third of that before.
	stallThreshold = messages.AckWait / 3
)

// stallDetector reports whether this process was stalled. After a stall, a process still holds
// messages that the server has redelivered to others.
type stallDetector struct{ last atomic.Int64 } // by bootclock.Now; 0: not started

func (d *stallDetector) tick() { d.last.Store(int64(bootclock.Now())) }

// stalled reports whether the process was stalled and has not ticked since.
func (d *stallDetector) stalled() bool {
	last := d.last.Load()
	return last > 0 && bootclock.Now()-time.Duration(last) > stallThreshold
}

// watch marks stored messages as stale after a stall, and checks the connection, until ctx is done.
func (b *Bus) watch(ctx context.Context) {
	for b.pulse.tick(); sleep.For(ctx, pulseEvery) == nil; b.pulse.tick() {
		if b.pulse.stalled() {
			b.Log.Warn("this process was suspended and checks its in-flight messages again")
			b.MarkStale()
		}
		b.Refusals.checkHandshake()
	}
}

// StableSince reports whether the process has been connected and not stalled since began, so that a
// message that was not stale then is not stale now. Callers check it right before they send a
// request, since any wait before that may have been long.
func (b *Bus) StableSince(began time.Time) bool {
	doubt := b.staleBefore.Load()
	return b.NC.IsConnected() && !b.pulse.stalled() && (doubt == nil || doubt.Before(began))
}
