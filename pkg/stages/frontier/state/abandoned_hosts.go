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

// park takes what a crawl wants of a host out of the schedule, until unpark.
// The crawl is paused, or has spent its budget: looking at its hosts again and
// again would find nothing else.
func (s *Partition) park(h *host, w *crawlQueue) {
	w.parked = true
	h.rules = nil
	s.tx.set(s.parkedKey(w.crawl, h.name), nil)
	s.markDirty(h)
}

// unpark puts back what is parked of a crawl, some hosts in each call. It
// reports whether that was all.
func (s *Partition) unpark(name string, now int64) (done bool, err error) {
	pre := named(prefix(s.partition, kindParked), name)
	var hosts []string
	done = true
	err = s.store.scan(pre, nil, func(key, _ []byte) (bool, error) {
		if done = len(hosts) < maxDue; done {
			hosts = append(hosts, string(key[len(pre):]))
		}
		return done, nil
	})
	for i := 0; err == nil && i < len(hosts); i++ {
		err = s.unparkHost(name, hosts[i], now)
	}
	return done, err
}

func (s *Partition) unparkHost(crawl, name string, now int64) error {
	h, err := s.host(name)
	if err != nil {
		return err
	}
	s.tx.delete(s.parkedKey(crawl, name))
	h.of(crawl).parked, h.rules = false, nil
	s.markDirty(h)
	return s.readyIfDue(h, now)
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

// failQueued ends what is queued for a host that was given up.
func (s *Partition) failQueued(h *host, now int64) error {
	for _, w := range h.work {
		if w.parked || s.isDoomed(w.crawl) { // what was deleted is about to be taken away
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

// probe lets a host that was given up be asked again: a person wants it.
func (s *Partition) probe(name string) error {
	h, err := s.host(name)
	if err != nil {
		return err
	}
	h.polite.Probe()
	s.markDirty(h)
	return nil
}
