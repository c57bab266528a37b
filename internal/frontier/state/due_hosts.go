package state

import (
	"strings"

	"seine/internal/frontier/table"
)

// maxDueScanned bounds how many hosts are looked at for one that is due. Where the
// frontier works there are few; where it does not, the first will do.
const maxDueScanned = 1000

// hasDueHost reports whether a host with something queued for a crawl could be asked now.
func (s *schedule) hasDueHost(crawl string, now int64) (bool, error) {
	for _, h := range s.ready {
		if due, err := s.isHostDue(h, crawl, now); due || err != nil {
			return due, err
		}
	}
	found, scanned := false, 0
	err := s.scanTimes(table.Prefix(s.partition, kindDue), 0, func(_ []byte, at int64, rest []byte) (bool, error) {
		if scanned++; at > now || scanned > maxDueScanned {
			return false, nil
		}
		name := string(rest)
		if domain, isDomain := strings.CutPrefix(name, lineMark); isDomain {
			var err error
			found, err = s.inLine(domain, crawl, now)
			return !found, err
		}
		h, err := s.hosts.host(name)
		if err == nil {
			found, err = s.isHostDue(h, crawl, now)
		}
		return !found, err
	})
	return found, err
}

func (s *schedule) isHostDue(h *host, crawl string, now int64) (bool, error) {
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
