package state

import (
	"bytes"
	"fmt"
	"strings"

	"seine/internal/base/jsontext"
	"seine/pkg/stages/frontier/table"
)

// namedMove says where a key goes that has a host or a domain in it: q, and by which rest
// and value. Skip is for a key that cannot be read.
type namedMove struct {
	q           int
	rest, value []byte
	skip        bool
}

// namedKinds are the kinds that are moved by the host or domain in their key.
var namedKinds = map[byte]func(m *mover, p int, rest, value []byte) namedMove{
	kindQueue:    (*mover).moveQueued,
	kindDue:      (*mover).moveDue,
	kindLine:     (*mover).moveLine,
	kindHost:     (*mover).moveHost,
	kindDomain:   (*mover).moveDomain,
	kindParked:   (*mover).moveParked,
	kindOpened:   (*mover).moveRoot,
	kindOpening:  (*mover).moveRoot,
	kindBarred:   (*mover).moveRoot,
	kindSetAside: (*mover).moveSetAside,
}

// unmoved are the kinds that are made anew, or are moved by crawl: see moveCrawls.
var unmoved = []byte{
	kindPosition, kindTime, kindAwake, kindUnsaved, kindForgetting, kindNew, kindCounters, kindURL, kindFailed, kindRetry, kindInFlight,
	kindSeed, kindOrder, kindLinks, kindUnchanged, kindRun, kindMetadata, kindInherited,
}

// moveNamed moves all that has a host or a domain in its key.
func (m *mover) moveNamed() error {
	for p := range m.Partitions[0] {
		for kind := range 256 {
			if err := m.moveKind(p, byte(kind)); err != nil {
				return fmt.Errorf("partition %d: %w", p, err)
			}
		}
		if err := m.moveForgetting(p); err != nil {
			return fmt.Errorf("partition %d: %w", p, err)
		}
	}
	return nil
}

// moveKind moves the keys of one kind. Of a kind that it does not know, or that is there only
// for a while, there must be none.
func (m *mover) moveKind(p int, kind byte) error {
	if bytes.IndexByte(unmoved, kind) >= 0 {
		return nil
	}
	move := namedKinds[kind]
	return m.From.scan(table.Prefix(p, kind), nil, func(key, value []byte) (bool, error) {
		if move == nil {
			return false, fmt.Errorf("%w: it has keys of kind %c, %s", ErrUnsettled, kind, whatLeaves(kind))
		}
		to := move(m, p, key[3:], value)
		if to.skip {
			m.out.Skipped[kind]++
			return true, nil
		}
		if kind == kindHost {
			m.out.Hosts++
		}
		return true, m.put(to.q, kind, to.rest, to.value)
	})
}

// whatLeaves says why there is a kind of keys that cannot be moved.
func whatLeaves(kind byte) string {
	if kind == kindPostponed {
		return "messages that wait until a deleted crawl of their name is forgotten"
	}
	return "which this build does not know"
}

func (m *mover) moveQueued(_ int, rest, value []byte) namedMove {
	host, _, err := table.CutName(rest)
	return namedMove{m.targetOfHost(host), rest, value, err != nil}
}

func (m *mover) moveDue(p int, rest, value []byte) namedMove {
	if len(rest) < 8 {
		return namedMove{skip: true}
	}
	name := string(rest[8:])
	q := 0
	if domain, isDomain := strings.CutPrefix(name, lineMark); isDomain {
		q = m.targetOfDomain(domain)
	} else {
		q = m.targetOfHost(name)
	}
	return namedMove{q, m.shiftedTime(p, rest), value, false}
}

func (m *mover) moveLine(p int, rest, value []byte) namedMove {
	domain, entry, err := table.CutName(rest)
	if err != nil || len(entry) < 8 {
		return namedMove{skip: true}
	}
	return namedMove{m.targetOfDomain(domain), append(table.Name(nil, domain), m.shiftedTime(p, entry)...), value, false}
}

func (m *mover) moveHost(p int, rest, value []byte) namedMove {
	return namedMove{m.targetOfHost(string(rest)), rest, m.shiftedHost(p, string(rest), value), false}
}

func (m *mover) moveDomain(p int, rest, value []byte) namedMove {
	return namedMove{m.targetOfDomain(string(rest)), rest, m.shiftedDomain(p, string(rest), value), false}
}

func (m *mover) moveParked(_ int, rest, value []byte) namedMove {
	_, host, err := table.CutName(rest)
	return namedMove{m.targetOfHost(string(host)), rest, value, err != nil}
}

func (m *mover) moveRoot(_ int, rest, value []byte) namedMove {
	_, root, err := table.CutName(rest)
	if err != nil {
		return namedMove{skip: true}
	}
	domain, _, err := table.CutName(root)
	return namedMove{m.targetOfDomain(domain), rest, value, err != nil}
}

// moveSetAside keeps for a person what could not be read; nobody else looks at it.
func (m *mover) moveSetAside(p int, rest, value []byte) namedMove {
	return namedMove{p % m.step, rest, value, false}
}

// moveForgetting has the new partitions go through all hosts again, when the first of the
// old ones would.
func (m *mover) moveForgetting(p int) error {
	value, err := m.From.get(table.Prefix(p, kindForgetting))
	if err != nil || value == nil {
		return err
	}
	f := forgetting{}
	if jsontext.Unmarshal(value, &f) != nil {
		f = forgetting{} // which begins again, as where it is read
	} else {
		f.At += m.timeOf(p).shift[p]
	}
	if had, ok := m.forgetAt[p%m.step]; !ok || f.At < had {
		m.forgetAt[p%m.step] = f.At
	}
	return nil
}

// writeForgetting stores it, once all old partitions were looked at.
func (m *mover) writeForgetting() error {
	for q := range m.Partitions[1] {
		at, ok := m.forgetAt[q%m.step]
		if !ok {
			continue
		}
		text, err := encodeJSON(forgetting{At: at})
		if err != nil {
			return err
		}
		if err := m.put(q, kindForgetting, nil, text); err != nil {
			return err
		}
	}
	return nil
}
