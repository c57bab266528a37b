package state

import (
	"seine/internal/base/jsontext"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/table"
)

func (s *Partition) loadPositions() (err error) {
	s.positions, err = s.store.positions(s.partition, func(stream string, err error) {
		s.reportRepair(repairPosition, "a position cannot be read, the stream is read from its beginning", "stream", stream, "error", err)
	})
	return err
}

// positions are how far the streams are applied in a partition. Bad is called for
// what cannot be read.
func (s *Store) positions(of int, bad func(stream string, err error)) (map[string]messages.Position, error) {
	all := make(map[string]messages.Position)
	pre := table.Prefix(of, kindPosition)
	return all, s.scan(pre, nil, func(key, value []byte) (bool, error) {
		var p messages.Position
		if err := jsontext.Unmarshal(value, &p); err != nil {
			bad(string(key[len(pre):]), err)
			return true, nil
		}
		all[string(key[len(pre):])] = p
		return true, nil
	})
}

// SetPosition notes how far a stream has been applied; it is stored with the turn.
func (s *Partition) SetPosition(stream string, at messages.Position) {
	s.positions[stream] = at
	s.tx.SetJSON(append(table.Prefix(s.partition, kindPosition), stream...), at)
}
