package webhook

import (
	"testing"
	"time"
)

func TestWaitDoublesUpToTenMinutes(t *testing.T) {
	for tries, want := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 11: 10 * time.Minute, 1000: 10 * time.Minute} {
		if got := Wait(tries); got != want {
			t.Errorf("%v after %d tries, want %v", got, tries, want)
		}
	}
}
