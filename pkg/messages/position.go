package messages

import "time"

// Position is a place in one life of a stream: the last message that was read. Its owner
// stores it in the same transaction as what it made of the message there.
type Position struct {
	Created  time.Time // when the stream was created: another life, other messages
	Sequence uint64
	Stored   time.Time // when the message there was stored
}
