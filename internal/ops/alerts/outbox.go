package alerts

import (
	"time"

	"seine/internal/ops/webhook"
)

// QueuedNotification is a change on its way to the webhook.
type QueuedNotification struct {
	Change
	Tries int       `json:"tries,omitempty"`
	Next  time.Time `json:"next,omitzero"` // not to be tried before
}

// Bounds of what is done to post a change.
const (
	// MaxTries is how often a change is posted in vain before it is dropped, which
	// takes about two hours.
	MaxTries = 20
	// maxOutbox bounds the changes that wait: the oldest go first.
	maxOutbox = 100
)

// Send puts changes into the outbox. It returns how many others were dropped to
// make room.
func (s *State) Send(changes []Change) (dropped int) {
	for _, c := range changes {
		s.Outbox = append(s.Outbox, QueuedNotification{Change: c})
	}
	if dropped = len(s.Outbox) - maxOutbox; dropped <= 0 {
		return 0
	}
	s.Outbox = s.Outbox[dropped:]
	return dropped
}

// Head returns the change that is to be posted now, nil if there is none. They go
// in order, so that nobody hears of an end before its beginning.
func (s *State) Head(now time.Time) *QueuedNotification {
	if len(s.Outbox) == 0 || now.Before(s.Outbox[0].Next) {
		return nil
	}
	l := s.Outbox[0]
	return &l
}

// ResetRetries has what waits tried now, and as often as if it were new.
func (s *State) ResetRetries() {
	for i := range s.Outbox {
		s.Outbox[i].Tries, s.Outbox[i].Next = 0, time.Time{}
	}
}

// Posted notes what became of the change with that id: it is out of the outbox if
// it was taken, or was tried so often that it never will be.
func (s *State) Posted(id string, taken bool, now time.Time) (gone bool) {
	if len(s.Outbox) == 0 || s.Outbox[0].ID != id {
		return false
	}
	l := &s.Outbox[0]
	if l.Tries++; taken || l.Tries >= MaxTries {
		s.Outbox = s.Outbox[1:]
		return true
	}
	l.Next = now.Add(webhook.Wait(l.Tries))
	return false
}
