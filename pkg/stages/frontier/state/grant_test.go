package state

import (
	"testing"
	"time"

	"seine/pkg/messages"
)

func TestOneAskerAtATimeIsToldThatARequestIsWanted(t *testing.T) {
	r := new(Request)
	claim := messages.ClaimTTL(time.Minute)
	for _, c := range []struct {
		asker  string
		after  time.Duration
		wanted bool
	}{
		{"a", 0, true},
		{"b", time.Second, false},
		{"a", 2 * time.Second, true}, // asks again
		{"b", claim, false},
		{"b", claim + 2*time.Second, true}, // the other has had its time
		{"a", claim + 3*time.Second, false},
	} {
		got := r.tryClaim(c.asker, int64(c.after), claim)
		if got.Wanted != c.wanted || got.Behind == c.wanted {
			t.Errorf("%s is told %+v after %s", c.asker, got, c.after)
		}
	}
}
