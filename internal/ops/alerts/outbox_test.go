package alerts

import (
	"fmt"
	"testing"
)

func letters(n int) []Change {
	all := make([]Change, n)
	for i := range all {
		all[i].ID = fmt.Sprint(i)
	}
	return all
}

func TestOutboxIsBounded(t *testing.T) {
	var s State
	if n := s.Send(letters(maxOutbox + 5)); n != 5 || len(s.Outbox) != maxOutbox || s.Outbox[0].ID != "5" {
		t.Errorf("dropped %d, %d left, from %s", n, len(s.Outbox), s.Outbox[0].ID)
	}
}
