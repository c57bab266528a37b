package crawl

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"seine/internal/output"
)

// A database that starts again ends no crawl. One that stays away does, and so does at once
// what no waiting mends.
func TestOutputThatIsAwayIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		away, full, since := fmt.Errorf("commit: %w", output.ErrAway), errors.New("no space left on device"), time.Now()
		if !passes(errors.Join(nil, away), since) || passes(full, since) {
			t.Errorf("at once: away is waited for: %t, a full disk: %t", passes(away, since), passes(full, since))
		}
		time.Sleep(maxOutage)
		if passes(away, since) {
			t.Error("it is waited for without an end")
		}
	})
}
