package state

import (
	"seine/internal/schedule/politeness"
	"seine/pkg/stages/frontier/frontierapi"
)

// reasonGivenUp is why URLs of a host fail that does not come back.
const reasonGivenUp = frontierapi.HostGivenUp + ": it failed too often in a row"

// isHostAbandoned reports whether a host is taken for dead: until its next probe is
// due, what is queued for it fails.
func (s *Partition) isHostAbandoned(h *host, rules *politeness.Rules, now int64) bool {
	return h.polite.Abandoned(rules) && h.inFlight == 0 && s.time.earliest(&h.polite, rules, now) > now
}

// maxDiscard bounds the URLs discarded in one go.
const maxDiscard = 4 * queueWindow

// discard empties the queue of a crawl for a host, some URLs in each call.
func (s *Partition) discard(h *host, w *crawlQueue, end func(*urlRecord, urlID) error) error {
	for range maxDiscard {
		if w.queued == 0 {
			return nil
		}
		r, id, err := s.head(h, w)
		if err != nil || r == nil {
			return err
		}
		s.drop(r, id, h)
		if err := end(r, id); err != nil {
			return err
		}
	}
	return nil
}

// failQueued ends what is queued for a host that was abandoned.
func (s *Partition) failQueued(h *host, now int64) error {
	for _, w := range h.work {
		if w.parked || s.isPendingDeletion(w.crawl) { // what was deleted is about to be taken away
			continue
		}
		rules, err := s.rules(w.crawl, 0)
		if err != nil {
			return err
		}
		err = s.discard(h, w, func(r *urlRecord, id urlID) error { return s.giveUp(r, id, rules, now) })
		if err != nil {
			return err
		}
	}
	return nil
}

// probe lets a host that was abandoned be asked again: a person wants it.
func (s *Partition) probe(name string) error {
	h, err := s.host(name)
	if err != nil {
		return err
	}
	h.polite.Probe()
	s.markDirty(h)
	return nil
}
