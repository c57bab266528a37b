package stages

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Messages that were redelivered to other processes do not block the recording of later ones.
func TestDelaysThatAreOverMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d delayedRedeliveries
		for seq := range uint64(maxDelays) {
			d.add(seq, time.Second)
		}
		time.Sleep(2 * time.Second) // fake time of synctest
		d.add(maxDelays, time.Hour)
		if got := d.waiting(); !slices.Equal(got, []uint64{maxDelays}) {
			t.Errorf("%d are known to wait: %v", len(got), got[:min(len(got), 3)])
		}
	})
}
