package alerts

// maxOutbox bounds the changes that wait: the oldest go first.
const maxOutbox = 100

// Send puts changes into the outbox. It returns how many others were dropped to
// make room. They are posted in order, so that a beginning comes before its end.
func (s *State) Send(changes []Change) (dropped int) {
	s.Outbox = append(s.Outbox, changes...)
	dropped = max(0, len(s.Outbox)-maxOutbox)
	s.Outbox = s.Outbox[dropped:]
	return dropped
}
