package state

import "seine/pkg/messages"

// TurnBytes is how much of messages one turn applies, about.
const TurnBytes = 512 << 10

// Now is the partition's time, Unix ns: see timeline.
func (s *Partition) Now() int64 { return s.time.now() }

// Positions are up to where the streams are applied. The caller must not change them.
func (s *Partition) Positions() map[string]messages.Position { return s.positions }

// InFlight is how many requests are under way.
func (s *Partition) InFlight() int { return len(s.inFlight) }

// HasDue reports whether a host may be asked now.
func (s *Partition) HasDue(now int64) bool { return len(s.ready) > 0 || s.nextDue <= now }

// HasPostponed reports whether messages wait for the removal of a deleted crawl.
func (s *Partition) HasPostponed() bool { return len(s.postponed) > 0 }

// Replaying reports whether the state is behind the streams, until Resume.
func (s *Partition) Replaying() bool { return s.replaying }

// Removed counts the deleted crawls that were removed since the store was opened, and
// those before whose removal no snapshot has.
func (s *Partition) Removed() int { return s.removed }
