package state

import (
	"bytes"
	"fmt"

	"seine/internal/schedule/politeness"
	"seine/pkg/stages/frontier/table"
)

// moveHosts moves all that belongs to a host or a domain.
func (m *mover) moveHosts() error {
	for p := range m.Partitions[0] {
		err := m.checkKinds(p)
		for _, move := range []struct {
			kind byte
			to   func(p int, rest, value []byte) error
		}{
			{kindHost, m.moveHost}, {kindDomain, m.moveDomain}, {kindOpened, m.moveRoot(kindOpened)}, {kindOpening, m.moveRoot(kindOpening)},
			{kindSetAside, m.moveSetAside},
		} {
			if err == nil {
				err = m.From.scan(table.Prefix(p, move.kind), nil, func(key, value []byte) (bool, error) { return true, move.to(p, key[3:], value) })
			}
		}
		if err != nil {
			return fmt.Errorf("partition %d: %w", p, err)
		}
	}
	return nil
}

// movable are the kinds that a partition may have when it is moved.
const movable = "CUHDAVrFGnJMNPK" + indexKinds

// checkKinds makes sure that a partition has no other kinds: one that this build does not know, or that exists only for a while.
func (m *mover) checkKinds(p int) error {
	for kind := range 256 {
		if bytes.IndexByte([]byte(movable), byte(kind)) >= 0 {
			continue
		}
		err := m.From.scan(table.Prefix(p, byte(kind)), nil, func(_, _ []byte) (bool, error) {
			return false, fmt.Errorf("%w: it has keys of kind %c, %s", ErrUnsettled, kind, whatLeaves(byte(kind)))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// whatLeaves says why there is a kind of keys that cannot be moved.
func whatLeaves(kind byte) string {
	if kind == kindPostponed {
		return "messages that wait until a deleted crawl of their name is forgotten"
	}
	return "which this build does not know"
}

// moveHost moves a host; one that is unreadable is rebuilt when it is its turn.
func (m *mover) moveHost(p int, rest, value []byte) error {
	m.out.Hosts++
	name := string(rest)
	q := m.targetOfHost(name)
	h, err := decodeHost(name, value)
	if err != nil {
		return m.put(q, kindHost, rest, value)
	}
	m.shift(p, &h.polite, &h.due)
	return hostTable.Export(q, name, h, m.write)
}

// moveDomain does the same of a domain.
func (m *mover) moveDomain(p int, rest, value []byte) error {
	name := string(rest)
	q := m.targetOfDomain(name)
	d, err := decodeDomain(name, value)
	if err != nil {
		return m.put(q, kindDomain, rest, value)
	}
	m.shift(p, &d.polite, &d.due)
	return domainTable.Export(q, name, d, m.write)
}

// shift moves the times of a host or domain to the time of the new partition.
func (m *mover) shift(p int, s *politeness.State, due *int64) {
	t := m.timeOf(p)
	s.Shift(t.rest[p])
	if *due != 0 {
		*due += t.shift[p]
	}
}

// moveRoot moves what seeds have opened.
func (m *mover) moveRoot(kind byte) func(p int, rest, value []byte) error {
	return func(_ int, rest, value []byte) error {
		_, root, err := table.CutName(rest)
		var domain string
		if err == nil {
			domain, _, err = table.CutName(root)
		}
		if err != nil {
			m.out.Skipped[kind]++
			return nil
		}
		return m.put(m.targetOfDomain(domain), kind, rest, value)
	}
}

// moveSetAside keeps for a person what could not be read; nobody else looks at it.
func (m *mover) moveSetAside(p int, rest, value []byte) error {
	return m.put(p%m.step, kindSetAside, rest, value)
}
