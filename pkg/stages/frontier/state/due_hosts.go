package state

import (
	"strings"
	"time"

	"seine/pkg/stages/frontier/table"
)

// nextDueTime is the entry that a host must have in the due index: when it may be
// asked next, 0 if it has nothing to ask for or too much under way.
func (s *Partition) nextDueTime(h *host, now int64) (int64, error) {
	waiting := false
	for _, w := range h.work {
		waiting = waiting || w.queued > 0 && !w.parked
	}
	if !waiting {
		return 0, nil
	}
	rules, err := s.rulesOf(h)
	switch {
	case err != nil:
		return 0, err
	case s.isHostAbandoned(h, rules, now):
		return 1, nil // to be told so at once
	case h.inFlight >= h.polite.Limit(rules):
		return 0, nil
	}
	return max(min(s.time.earliest(&h.polite, rules, now), now+lookAgain), h.notBefore, 1), nil
}

// lookAgain is how far ahead an entry of the due index is at most. Then it is seen
// when the host may really go, by the rules and the time of day as they are then.
const lookAgain = int64(time.Hour)

// maxDueScanned bounds how many hosts are looked at for one that is due. Where the
// frontier works there are few; where it does not, the first will do.
const maxDueScanned = 1000

// hasDueHost reports whether a host with something queued for a crawl could be asked now.
func (s *Partition) hasDueHost(crawl string, now int64) (bool, error) {
	for _, h := range s.ready {
		if due, err := s.isHostDue(h, crawl, now); due || err != nil {
			return due, err
		}
	}
	found, scanned := false, 0
	pre := table.Prefix(s.partition, kindDue)
	err := s.scanTimes(pre, nil, func(_ []byte, at int64, rest []byte) (bool, error) {
		if scanned++; at > now || scanned > maxDueScanned {
			return false, nil
		}
		name := string(rest)
		if domain, isDomain := strings.CutPrefix(name, lineMark); isDomain {
			var err error
			found, err = s.inLine(domain, crawl, now)
			return !found, err
		}
		h, err := s.host(name)
		if err == nil {
			found, err = s.isHostDue(h, crawl, now)
		}
		return !found, err
	})
	return found, err
}

func (s *Partition) isHostDue(h *host, crawl string, now int64) (bool, error) {
	for _, w := range h.work {
		if w.crawl == crawl && w.queued > 0 && !w.parked {
			at, err := s.nextDueTime(h, now)
			if err != nil || at == 0 || at > now || !h.grouped {
				return err == nil && at != 0 && at <= now, err
			}
			return s.free(h, now)
		}
	}
	return false, nil
}
