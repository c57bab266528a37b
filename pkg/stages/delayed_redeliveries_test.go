package stages

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Messages that came back to other processes do not keep later ones from being known.
func TestDelaysThatAreOverMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d delayedRedeliveries
		for seq := range uint64(maxDelays) {
			d.add(seq, time.Second)
		}
		time.Sleep(2 * time.Second) // of the bubble
		d.add(maxDelays, time.Hour)
		if got := d.waiting(); !slices.Equal(got, []uint64{maxDelays}) {
			t.Errorf("%d are known to wait: %v", len(got), got[:min(len(got), 3)])
		}
	})
}
