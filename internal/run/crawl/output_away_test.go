package crawl

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"seine/internal/output"
)

// A database restart does not end a crawl. A long outage does, and so does, at once, an error that
// waiting cannot fix.
func TestOutputThatIsAwayIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		away, full, since := fmt.Errorf("commit: %w", output.ErrAway), errors.New("no space left on device"), time.Now()
		if !passes(errors.Join(nil, away), since) || passes(full, since) {
			t.Errorf("at once: away is waited for: %t, a full disk: %t", passes(away, since), passes(full, since))
		}
		time.Sleep(maxOutage) // fake time of synctest
		if passes(away, since) {
			t.Error("it is waited for without an end")
		}
	})
}
