package state

// Commit ends a turn: what changed becomes durable at once.
func (s *Partition) Commit(now int64) error {
	if err := s.commitHosts(now); err != nil {
		return err
	}
	for _, d := range s.touchedDomains {
		s.commitDomain(d, now)
	}
	s.touchedDomains = s.touchedDomains[:0]
	if err := s.beginAudits(); err != nil {
		return err
	}
	s.commitCrawls()
	for id, r := range s.tx.changed {
		urlTable.Put(s.tx.Turn, id, r)
		if r.awaitsTime() {
			s.nextRetry = min(s.nextRetry, r.Due)
		}
	}
	s.storeTime()
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
		if err := s.schedule(h, want); err != nil {
			return err
		}
		if h.forgettable(s.time.pace(now)) { // it stays in memory: the store still shows it in this turn
			hostTable.Remove(s.tx.Turn, h.name, h)
		} else {
			hostTable.Put(s.tx.Turn, h.name, h)
			s.forgetsLater(h.forgetAt(), now)
		}
		h.dirty = false
	}
	s.touched = s.touched[:0]
	return nil
}

// commitCrawls stores the crawls that changed.
func (s *Partition) commitCrawls() {
	for name, c := range s.crawls {
		if !c.dirty {
			continue
		}
		c.dirty = false
		if !c.known() { // of one that has no URL here all is known again from its spec
			continue
		}
		crawlTable.Put(s.tx.Turn, name, c)
		s.storeRuns(name, c)
	}
}
