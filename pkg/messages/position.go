package messages

import "time"

// Position is the last message read in one incarnation of a stream. Its owner stores it in the same
// transaction as the effects of that message.
type Position struct {
	Created  time.Time // when the stream was created: identifies its incarnation
	Sequence uint64
	Stored   time.Time // when that message was stored
}
