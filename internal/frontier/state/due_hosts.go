package state

import (
	"strings"

	"seine/internal/frontier/table"
)

// maxDueScanned limits how many hosts are checked to find one that is due. A working frontier has
// few; otherwise the first one is due.
const maxDueScanned = 1000

// eachDue calls do for the hosts in the due index up to a time, until do returns false. Of a domain
// it visits at most ofLine hosts of its line.
func (s *schedule) eachDue(until int64, ofLine int, do func(host string) (bool, error)) error {
	return s.scanTimes(table.Prefix(s.partition, kindDue), s.nextDue, func(_ []byte, at int64, rest []byte) (bool, error) {
		name, isDomain := strings.CutPrefix(string(rest), lineMark)
		switch {
		case at > until:
			return false, nil
		case !isDomain:
			return do(name)
		}
		n, more := 0, true
		err := s.scanTimes(s.linePrefix(name), 0, func(_ []byte, at int64, rest []byte) (_ bool, err error) {
			if n++; at > until || n > ofLine {
				return false, nil
			}
			more, err = do(string(rest))
			return more, err
		})
		return more, err
	})
}

// hasDueHost reports whether a host with URLs queued for a crawl may be sent a request now.
func (s *schedule) hasDueHost(crawl string, now int64) (bool, error) {
	for _, h := range s.ready {
		if due, err := s.isHostDue(h, crawl, now); due || err != nil {
			return due, err
		}
	}
	found, scanned := false, 0
	err := s.eachDue(now, maxLine, func(name string) (bool, error) {
		h, err := s.hosts.host(name)
		if err == nil {
			found, err = s.isHostDue(h, crawl, now)
		}
		scanned++
		return !found && scanned < maxDueScanned, err
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
