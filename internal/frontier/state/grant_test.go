package state

import (
	"testing"
	"time"

	"seine/pkg/messages"
)

func TestTryClaim_SeveralClaimants_OneAtATimeIsGranted(t *testing.T) {
	r := new(Request)
	ttl := messages.ClaimTTL(time.Minute)
	for _, c := range []struct {
		claimant string
		after    time.Duration
		granted  bool
	}{
		{"a", 0, true},
		{"b", time.Second, false},
		{"a", 2 * time.Second, true}, // repeats its claim
		{"b", ttl, false},
		{"b", ttl + 2*time.Second, true}, // the other claim has expired
		{"a", ttl + 3*time.Second, false},
	} {
		got := r.tryClaim(c.claimant, int64(c.after), ttl)
		if got.Granted != c.granted || got.Retry == c.granted {
			t.Errorf("%s is told %+v after %s", c.claimant, got, c.after)
		}
	}
}
