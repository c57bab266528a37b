package alerts

import (
	"fmt"
	"testing"
	"time"
)

func letters(n int) []Change {
	all := make([]Change, n)
	for i := range all {
		all[i].ID = fmt.Sprint(i)
	}
	return all
}

// Changes are posted in order; one that is not taken holds up the next, for
// longer each time, and is dropped in the end.
func TestOutbox(t *testing.T) {
	var s State
	now := time.Unix(1_800_000_000, 0)
	s.Send(letters(2))
	began, tries := now, 0
	for {
		l := s.Head(now)
		if l == nil {
			now = now.Add(time.Second)
			continue
		}
		if l.ID != "0" {
			break
		}
		tries++
		s.Posted("0", false, now)
	}
	if took := now.Sub(began); tries != MaxTries || took < time.Hour || took > 3*time.Hour {
		t.Errorf("given up after %d tries, %s", tries, took)
	}
	if s.Posted("0", true, now) {
		t.Error("an answer that comes late took another change out")
	}
	if !s.Posted("1", true, now) || s.Head(now) != nil {
		t.Errorf("left is %+v", s.Outbox)
	}
}

func TestHurry(t *testing.T) {
	var s State
	now := time.Unix(1_800_000_000, 0)
	s.Send(letters(1))
	for range 10 {
		s.Posted("0", false, now)
	}
	if s.Head(now) != nil {
		t.Fatal("there is no wait")
	}
	s.ResetRetries()
	if l := s.Head(now); l == nil || l.Tries != 0 {
		t.Errorf("got %+v", l)
	}
}

func TestOutboxIsBounded(t *testing.T) {
	var s State
	if n := s.Send(letters(maxOutbox + 5)); n != 5 || len(s.Outbox) != maxOutbox || s.Outbox[0].ID != "5" {
		t.Errorf("dropped %d, %d left, from %s", n, len(s.Outbox), s.Outbox[0].ID)
	}
}
