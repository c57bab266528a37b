package alerts

// maxOutbox bounds the outbox; the oldest changes are dropped first.
const maxOutbox = 100

// Send adds changes to the outbox. It returns the number of changes dropped to make room. Changes
// are posted in order, so an alert is raised before it is cleared.
func (s *State) Send(changes []Change) (dropped int) {
	s.Outbox = append(s.Outbox, changes...)
	dropped = max(0, len(s.Outbox)-maxOutbox)
	s.Outbox = s.Outbox[dropped:]
	return dropped
}
