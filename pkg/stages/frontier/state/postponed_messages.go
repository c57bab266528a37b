package state

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"seine/pkg/messages"
	"seine/pkg/stages/frontier/table"
)

// The first messages of a crawl may come while a deleted one of its name is still
// being removed. They wait in the store, beside everything else, until that is done:
// as part of a turn they survive kills, moves and older snapshots as its position
// does, and they stay in their order. To remove the rest of millions of keys in the
// turn of the first message would make one batch of it; to leave the message in its
// stream would hold up those of all other crawls, since a position passes none.

// postponed is a message that has waited.
type postponed struct {
	key        []byte
	crawl      string
	candidates *messages.Candidates // or
	result     *messages.Result
}

// What the value of a postponed message begins with; the message follows.
const (
	postponedCandidates = 'U'
	postponedResult     = 'R'
)

// mustWait reports whether a message that is not of a deleted crawl must wait until
// that is removed, and what came before the message is applied.
func (s *Partition) mustWait(name string, rules *Rules) bool {
	return s.postponed[name] > 0 || s.crawl(name).hasDeletedRemains(rules)
}

// hasDeletedRemains reports whether something is left of a crawl that was deleted.
func (c *crawl) hasDeletedRemains(rules *Rules) bool { return c.known() && c.pendingDeletion(rules) }

func (s *Partition) postpone(crawl string, kind byte, message []byte) {
	s.lastPostponed++
	key := binary.BigEndian.AppendUint64(table.Name(table.Prefix(s.partition, kindPostponed), crawl), s.lastPostponed)
	s.tx.Set(key, append([]byte{kind}, message...))
	s.postponed[crawl]++
}

// postponeCandidates lets a message of URLS wait, but for the URLs that are none.
func (s *Partition) postponeCandidates(m *messages.Candidates, rules *Rules, partitions int) (bad []messages.BadURL) {
	good := *m
	good.URLs = nil
	for _, c := range m.URLs {
		if _, err := s.identity(c.URL, rules, partitions); err != nil {
			bad = append(bad, messages.BadURL{Text: c.URL, Err: err})
		} else {
			good.URLs = append(good.URLs, c)
		}
	}
	s.postpone(m.Crawl, postponedCandidates, good.Encode())
	return bad
}

// loadPostponed counts the messages that wait.
func (s *Partition) loadPostponed() error {
	pre := table.Prefix(s.partition, kindPostponed)
	return s.store.scan(pre, nil, func(key, _ []byte) (bool, error) {
		name, number, err := table.CutName(key[len(pre):])
		if err != nil || len(number) != 8 {
			s.reportRepair(repairIndex, "the key of a message that waits cannot be read, it is removed", "key", key)
			s.tx.Delete(bytes.Clone(key))
			return true, nil
		}
		s.postponed[name]++
		s.lastPostponed = max(s.lastPostponed, binary.BigEndian.Uint64(number))
		return true, nil
	})
}

// RemoveForPostponed continues with the removals that messages wait for. Tend does so
// for all; this is for a partition that catches up, and has not begun to tend.
func (s *Partition) RemoveForPostponed(now int64) error {
	for name := range s.postponed {
		rules, err := s.rules(name, 0)
		if err != nil {
			return err
		}
		if c := s.crawl(name); c.hasDeletedRemains(rules) {
			if err := s.remove(name, c, rules, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// ReadyPostponed returns messages that need not wait any more, in their order, as many as a
// turn takes. The turn under way must not have postponed or applied any before.
func (s *Partition) ReadyPostponed() (all []postponed, err error) {
	for name := range s.postponed {
		rules, err := s.rules(name, 0)
		if err != nil {
			return nil, err
		}
		if s.crawl(name).hasDeletedRemains(rules) {
			continue
		}
		size := 0
		err = s.store.scan(table.Name(table.Prefix(s.partition, kindPostponed), name), nil, func(key, value []byte) (bool, error) {
			m := postponed{key: bytes.Clone(key), crawl: name}
			if err := m.decode(value); err != nil {
				s.reportRepair(repairMessage, "a message that waits cannot be read, it is set aside", "crawl", name, "error", err)
				s.notPostponed(name)
				return true, s.setAside(m.key)
			}
			all = append(all, m)
			size += len(value)
			return size < TurnBytes, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (p *postponed) decode(value []byte) (err error) {
	switch {
	case len(value) > 0 && value[0] == postponedCandidates:
		p.candidates, err = messages.DecodeCandidates(value[1:])
	case len(value) > 0 && value[0] == postponedResult:
		p.result, err = messages.DecodeResult(value[1:])
	default:
		err = fmt.Errorf("%q is not a message", value[:min(len(value), 16)])
	}
	return err
}

// ApplyPostponed applies a message that has waited.
func (s *Partition) ApplyPostponed(m *postponed, partitions int, now int64) error {
	s.tx.Delete(m.key)
	s.notPostponed(m.crawl)
	if m.result != nil {
		rules, err := s.admits(m.crawl, m.result.Rev)
		if err != nil || rules == nil {
			return err
		}
		return s.takeResult(m.result, rules, now)
	}
	rules, err := s.admits(m.crawl, m.candidates.Rev)
	if err != nil || rules == nil {
		return err
	}
	bad, err := s.takeCandidates(m.candidates, rules, partitions, now)
	for _, b := range bad { // by a spec that changed meanwhile
		s.log.Warn("a URL that waited for the removal of a deleted crawl is invalid", "crawl", m.crawl, "error", b)
	}
	return err
}

func (s *Partition) notPostponed(crawl string) {
	if s.postponed[crawl]--; s.postponed[crawl] <= 0 {
		delete(s.postponed, crawl)
	}
}
