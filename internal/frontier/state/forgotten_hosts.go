package state

import (
	"math"

	"seine/internal/frontier/table"
)

// A host or domain that no crawl wants is removed as soon as it needs no more delay than a host
// without any requests. Until then it is in an index, by that moment in politeness time.

// forgetsLater notes when a host or a domain is to be removed.
func (s *schedule) forgetsLater(at, now int64) {
	if at > s.time.pace(now) { // otherwise a request is in progress
		s.nextForget = min(s.nextForget, at)
	}
}

// forgets reports whether hosts are to be removed now.
func (s *schedule) forgets(now int64) bool { return s.nextForget < s.time.pace(now) }

// forgetHosts marks some hosts and domains whose time has come, so that the end of the turn removes
// them.
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

// forgettable reports whether the state of a host can be dropped without loss.
func (h *host) forgettable(now int64) bool {
	return h.inFlight == 0 && h.isUnwanted() && h.polite.Forgettable(now)
}

// forgetAt returns when a host becomes forgettable if nothing happens before, 0 if it is wanted.
func (h *host) forgetAt() int64 {
	if !h.isUnwanted() {
		return 0
	}
	return h.polite.ForgetAt()
}

// isUnwanted reports whether no crawl has state for a host, or for the hosts of a domain, as its
// crawls were deleted.
func (h *host) isUnwanted() bool { return len(h.work) == 0 && h.due == 0 && !h.lined }
