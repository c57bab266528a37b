package state

import "seine/pkg/stages/frontier/frontierapi"

// setState changes the state of a URL and the counters with it.
func (s *Partition) setState(r *urlRecord, id urlID, to State, reason string, now int64) {
	c := s.crawl(id.crawl)
	c.tally(id.hash, func(n *frontierapi.Counters) { countRecord(n, r, -1) })
	forgetExample(&c.Examples, r)
	if r.State == Parsing && r.Due <= s.parsingAt {
		c.unparsed--
	}
	r.State, r.Reason, r.Changed = to, reason, s.time.wallMS(now)
	c.tally(id.hash, func(n *frontierapi.Counters) { countRecord(n, r, 1) })
	addExample(&c.Examples, r)
	c.Changed = r.Changed
	if c.Started == 0 {
		c.Started = r.Changed
	}
	if to == Failed {
		s.countFailed(r, id, now)
	}
	c.dirty = true
	s.tx.save(id, r)
}
