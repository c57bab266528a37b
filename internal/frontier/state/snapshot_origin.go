package state

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"seine/internal/frontier/table"
	"seine/pkg/messages"
)

// Usable reports whether the store's own state of a partition can continue. It must lack nothing of
// the newest snapshot, given as an object with the positions that it has reached. A state that was
// made from a snapshot and has not caught up is usable if that snapshot is still the newest.
func (s *Store) Usable(p int, snapshot string, reached map[string]messages.Position) (bool, error) {
	if from, isNew, err := s.Origin(p); isNew || err != nil {
		return from == snapshot, err
	}
	have, err := s.positions(p, func(string, error) {})
	for stream, at := range reached {
		mine := have[stream]
		if mine.Sequence < at.Sequence && (mine.Created.Equal(at.Created) || mine.Sequence == 0) {
			return false, err
		}
	}
	return true, err
}

// MarkNew records that a state came from another store. object is the snapshot that it was made
// from, "" if it was made from streams only. While the mark exists, the in-flight requests of that
// store are unknown here: an owner that dies before it has caught up leaves the mark to the next.
// See Partition.Resume.
func (s *Store) MarkNew(p int, object string) error {
	if err := s.db.Set(table.Prefix(p, kindNew), []byte(object), pebble.Sync); err != nil {
		return fmt.Errorf("mark the state of partition %d as new: %w", p, err)
	}
	return nil
}

// Origin returns the object recorded by MarkNew, and whether there is one.
func (s *Store) Origin(p int) (object string, isNew bool, err error) {
	value, err := s.get(table.Prefix(p, kindNew))
	if err != nil {
		return "", false, fmt.Errorf("read the origin of partition %d: %w", p, err)
	}
	return string(value), value != nil, nil
}

// Resume continues with the requests in flight, once the state has caught up with its streams. They
// are the former owner's requests in FETCH, by their sequence there, and those of this state. Each
// is checked at once.
func (p *Partition) Resume(inFetch map[uint64]*messages.Request, now int64) error {
	for _, seq := range slices.Sorted(maps.Keys(inFetch)) {
		req := inFetch[seq]
		if err := p.Requests.adoptForeign(req, now); err != nil {
			return err
		}
		p.Requests.MarkSent(req, seq)
	}
	for _, req := range p.urls.inFlight {
		req.deadline, req.unsent = 0, req.FetchSeq == 0
	}
	p.Requests.nextInFlightDeadline, p.replaying = 0, false
	p.tx.Delete(table.Prefix(p.partition, kindNew))
	return p.Commit(now)
}
