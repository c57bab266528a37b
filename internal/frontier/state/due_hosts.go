package state

import (
	"strings"

	"seine/internal/frontier/table"
)

// maxDueScanned bounds how many hosts are looked at for one that is due. Where the
// frontier works there are few; where it does not, the first will do.
const maxDueScanned = 1000

// eachDue calls do for the hosts of the due index up to a time, until it returns false. For a domain these are the first of
// its line, so many at most.
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

// hasDueHost reports whether a host with something queued for a crawl could be asked now.
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
