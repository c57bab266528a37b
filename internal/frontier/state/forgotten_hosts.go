package state

import (
	"math"
	"slices"
	"strings"

	"seine/internal/frontier/table"
)

// A host that no crawl wants is forgotten, and so is a domain without pages, as soon as it can be asked as one that was
// never asked. Until then it is in an index, by that moment as politeness counts it.

// deriveForget adds the index key of a host or a domain.
func deriveForget(keys *table.Keys, at int64, mark, name string) {
	if at > 0 {
		keys.Add(kindForget).Int(at).Text(mark).Text(name)
	}
}

// forgetsLater notes that a host or a domain is to be forgotten.
func (s *schedule) forgetsLater(at, now int64) {
	if at > s.time.pace(now) { // or it is being asked
		s.nextForget = min(s.nextForget, at)
	}
}

// forgets reports whether hosts are to be forgotten now.
func (s *schedule) forgets(now int64) bool { return s.nextForget < s.time.pace(now) }

// forgetHosts has the end of the turn forget some hosts and domains whose time has come.
func (s *schedule) forgetHosts(now int64) error {
	if !s.forgets(now) {
		return nil
	}
	from, n := s.nextForget, 0
	s.nextForget = math.MaxInt64
	return s.scanTimes(table.Prefix(s.partition, kindForget), from, func(key []byte, at int64, rest []byte) (bool, error) {
		if n++; at >= s.time.pace(now) || n > maxDue {
			s.nextForget = at
			return false, nil
		}
		return true, s.forget(string(rest), key, now)
	})
}

func (s *schedule) forget(name string, key []byte, now int64) error {
	if name, isDomain := strings.CutPrefix(name, lineMark); isDomain {
		d, err := s.hosts.domain(name)
		switch {
		case err != nil:
			return err
		case !d.Has(key):
			s.stray(key)
		case d.forgettable(s.time.pace(now)):
			s.hosts.touchDomain(d)
		}
		return nil
	}
	h, err := s.hosts.host(name)
	switch {
	case err != nil:
		return err
	case !h.Has(key):
		s.stray(key)
	case h.forgettable(s.time.pace(now)):
		s.hosts.markDirty(h)
	}
	return nil
}

// unwanted reports whether no crawl wants anything of a host: its crawls were deleted.
func (h *host) unwanted() bool { return len(h.work) == 0 && h.inFlight == 0 }

// forgettable reports whether nothing is lost with what is known of a host.
func (h *host) forgettable(now int64) bool { return h.unwanted() && h.polite.Forgettable(now) }

// forgetAt is when a host is forgettable if nothing happens before, 0 if it is wanted.
func (h *host) forgetAt() int64 {
	if len(h.work) > 0 {
		return 0
	}
	return h.polite.ForgetAt()
}

// forgettable reports whether nothing is lost with what is known of a domain.
func (d *domain) forgettable(now int64) bool {
	return d.inFlight == 0 && d.due == 0 && !d.lined && !d.hasPages() && d.polite.Forgettable(now)
}

// forgetAt is when a domain is forgettable if nothing happens before, 0 if it is wanted.
func (d *domain) forgetAt() int64 {
	if d.due != 0 || d.lined || d.hasPages() {
		return 0
	}
	return d.polite.ForgetAt()
}

func (d *domain) hasPages() bool {
	return slices.ContainsFunc(d.work, func(w *hostQueue) bool { return w.pages > 0 })
}
