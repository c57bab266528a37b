package state

import (
	"seine/internal/base/jsontext"
	"seine/internal/frontier/table"
	"seine/pkg/messages"
)

// positions returns the applied positions of the streams in a partition. It calls bad for
// unreadable ones.
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

func (p *Partition) loadPositions() (err error) {
	p.positions, err = p.store.positions(p.partition, func(stream string, err error) {
		p.reportRepair(repairPosition, "a position cannot be read, the stream is read from its beginning", "stream", stream, "error", err)
	})
	return err
}

// SetPosition notes how far a stream has been applied; it is stored with the turn.
func (p *Partition) SetPosition(stream string, at messages.Position) {
	p.positions[stream] = at
	p.tx.SetJSON(append(table.Prefix(p.partition, kindPosition), stream...), at)
}
