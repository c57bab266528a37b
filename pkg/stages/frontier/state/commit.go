package state

import (
	"encoding/json"
	"fmt"
)

// Commit ends a turn: what changed becomes durable at once.
func (s *Partition) Commit(now int64) error {
	if err := s.commitHosts(now); err != nil {
		return err
	}
	for _, d := range s.touchedDomains {
		s.commitDomain(d, now)
	}
	s.touchedDomains = s.touchedDomains[:0]
	if err := s.commitCrawls(); err != nil {
		return err
	}
	for id, r := range s.tx.changed {
		s.scratch = r.append(s.scratch[:0])
		s.tx.set(s.urlKey(id), s.scratch)
	}
	if err := s.storeForgetting(); err != nil {
		return err
	}
	if err := s.storeTime(); err != nil {
		return err
	}
	if err := s.tx.commit(); err != nil {
		return err
	}
	for _, w := range s.changedQueues {
		w.changes = nil
	}
	s.changedQueues = s.changedQueues[:0]
	clear(s.gone)
	if err := s.checkEmptied(); err != nil {
		return err
	}
	for _, c := range s.crawls {
		clear(c.marks)
		if len(c.roots) > maxRoots {
			clear(c.roots)
		}
	}
	s.evictWindows()
	return nil
}

// commitHosts stores the hosts that changed, and when they are due.
func (s *Partition) commitHosts(now int64) error {
	for _, h := range s.touched {
		want, err := s.nextDueTime(h, now)
		if err != nil {
			return err
		}
		if err := s.index(h, want); err != nil {
			return err
		}
		if h.forgettable(s.time.pace(now)) { // it stays in memory: the store still shows it in this turn
			s.tx.delete(s.hostKey(h.name))
		} else {
			s.scratch = h.append(s.scratch[:0])
			s.tx.set(s.hostKey(h.name), s.scratch)
		}
		h.dirty = false
	}
	s.touched = s.touched[:0]
	return nil
}

// commitCrawls stores the crawls that changed.
func (s *Partition) commitCrawls() error {
	for name, c := range s.crawls {
		if !c.dirty {
			continue
		}
		c.dirty = false
		if !c.known() { // of one that has no URL here all is known again from its spec
			continue
		}
		text, err := json.Marshal(&c.crawlState)
		if err != nil {
			return fmt.Errorf("encode counters of %s: %w", name, err)
		}
		s.tx.set(s.countersKey(name), text)
		if err := s.storeRuns(name, c); err != nil {
			return err
		}
		s.list(name, c)
	}
	return nil
}
