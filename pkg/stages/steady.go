package stages

import (
	"context"
	"sync/atomic"
	"time"

	"seine/internal/uptime"
	"seine/pkg/messages"
)

const (
	// pulseEvery is how often a process notes that it runs.
	pulseEvery = time.Second
	// frozenTime is how long without that it must have stood still: stopped, or its
	// machine paused or put to sleep. What it held may be another's by then, as after
	// AckWait, and the last sign of life was up to a third of that before.
	frozenTime = messages.AckWait / 3
)

// pulse tells whether this process stood still: a process that did goes on as if
// nothing had been, with messages that others have got meanwhile.
type pulse struct{ last atomic.Int64 } // by uptime.Now; 0: nobody keeps it

func (p *pulse) beat() { p.last.Store(int64(uptime.Now())) }

// stopped reports whether the process stood still, and its pulse has not been taken
// since.
func (p *pulse) stopped() bool {
	last := p.last.Load()
	return last > 0 && uptime.Now()-time.Duration(last) > frozenTime
}

// keepPulse casts doubt on everything when the process stood still, until ctx is
// done.
func (b *Bus) keepPulse(ctx context.Context) {
	for b.pulse.beat(); Sleep(ctx, pulseEvery) == nil; b.pulse.beat() {
		if b.pulse.stopped() {
			b.Log.Warn("this process stood still, and asks again about what it has in hand")
			b.Doubt()
		}
	}
}

// Steady reports whether nothing has happened since began that makes suspect what
// was not at that time. Who holds a request asks right before it is sent: whatever
// was waited for may have taken long.
func (b *Bus) Steady(began time.Time) bool {
	doubt := b.doubt.Load()
	return b.NC.IsConnected() && !b.pulse.stopped() && (doubt == nil || doubt.Before(began))
}
