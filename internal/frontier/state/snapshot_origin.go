package state

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"seine/internal/frontier/table"
	"seine/pkg/messages"
)

// Usable reports whether the store's own state of a partition can continue: it lacks
// nothing that the newest snapshot has, an object with positions that it has reached, and if it was made of a snapshot and has not
// caught up, that is still the newest.
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

// MarkNew notes that a state came from another store, with the object of the snapshot
// that it was made of, "" if it was made of streams alone. As long as the mark is
// there, the requests in flight of that store are not known here: an owner that dies
// before it has caught up leaves it to the next. See Partition.Resume.
func (s *Store) MarkNew(p int, object string) error {
	if err := s.db.Set(table.Prefix(p, kindNew), []byte(object), pebble.Sync); err != nil {
		return fmt.Errorf("mark the state of partition %d as new: %w", p, err)
	}
	return nil
}

// Origin returns what markNew noted, if it did.
func (s *Store) Origin(p int) (object string, isNew bool, err error) {
	value, err := s.get(table.Prefix(p, kindNew))
	if err != nil {
		return "", false, fmt.Errorf("read the origin of partition %d: %w", p, err)
	}
	return string(value), value != nil, nil
}

// Resume continues with the requests in flight, once the state has caught up with its
// streams: those of a former owner that are in FETCH, by their sequence there, and those
// of this state. Each is looked for at once.
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
