package state

import (
	"math"
	"strings"
	"time"

	"seine/internal/frontier/table"
	"seine/internal/schedule/politeness"
)

// schedule tracks when hosts are due.
type schedule struct {
	*base
	hosts      *hosts
	ready      []*host // due, in the order of their turns
	nextDue    int64   // lower bound of the due index
	nextForget int64   // lower bound of the index of hosts to remove, in politeness time
}

// maxDue limits how many entries are taken from an index at once.
const maxDue = 1024

// maxLine limits how many hosts are taken from a line at once. If the domain has a delay, one is
// served. The others are spare, for hosts that cannot be served for another reason.
const maxLine = 8

func (s *schedule) linePrefix(domain string) []byte {
	return table.Name(table.Prefix(s.partition, kindLine), domain)
}

// lookAgain is the maximum distance of an entry in the due index. Then the rules and the time of
// day of that moment decide when the host may really be served.
const lookAgain = int64(time.Hour)

// nextDueTime returns a host's time for the due index: when its next request may be sent, 0 if it
// has no URLs or too many requests in flight.
func (s *schedule) nextDueTime(h *host, now int64) (int64, error) {
	waiting := false
	for _, w := range h.work {
		waiting = waiting || w.queued > 0 && !w.parked
	}
	if !waiting {
		return 0, nil
	}
	rules, err := s.hosts.rulesOf(h)
	switch {
	case err != nil:
		return 0, err
	case s.isHostAbandoned(h, rules, now):
		return 1, nil // its URLs fail at once
	case h.inFlight >= h.polite.Limit(rules):
		return 0, nil
	}
	return max(min(s.time.earliest(&h.polite, rules, now), now+lookAgain), h.notBefore, 1), nil
}

// isHostAbandoned reports whether a host is abandoned: its queued URLs fail until its next probe is
// due.
func (s *schedule) isHostAbandoned(h *host, rules *politeness.Rules, now int64) bool {
	return h.polite.Abandoned(rules) && h.inFlight == 0 && s.time.earliest(&h.polite, rules, now) > now
}

// set sets the due time and the line of a host.
func (s *schedule) set(h *host, want int64) error {
	line := ""
	if want != 0 && h.grouped {
		d, err := s.hosts.domainOf(h)
		if err != nil {
			return err
		}
		line = strings.TrimPrefix(d.name, lineMark)
	}
	if want == h.due && line == h.line {
		return nil
	}
	switch {
	case want == 0:
	case line == "":
		s.nextDue = min(s.nextDue, want)
	default:
		h.domain.lined = true
		h.domain.first = min(h.domain.first, want)
		s.hosts.markDirty(h.domain)
	}
	h.due, h.line = want, line
	return nil
}

// wantedDomain returns the due time of a domain for the due index, 0 for none.
func (s *schedule) wantedDomain(d *host, now int64) int64 {
	switch {
	case d.first == math.MaxInt64:
		return 0
	case d.rules == nil: // the next host is not known yet
		return max(min(d.first, now+lookAgain), 1)
	case d.inFlight >= d.polite.Limit(d.rules):
		return 0
	}
	return max(min(max(d.first, s.time.earliest(&d.polite, d.rules, now)), now+lookAgain), 1)
}

// commitHosts stores the changed hosts with their due times, and then the domains.
func (s *schedule) commitHosts(now int64) error {
	for _, h := range s.hosts.touched {
		want, err := s.nextDueTime(h, now)
		if err != nil {
			return err
		}
		if err := s.set(h, want); err != nil {
			return err
		}
		s.commitHost(h, now)
	}
	for _, d := range s.hosts.touchedDomains {
		if d.due = s.wantedDomain(d, now); d.due != 0 {
			s.nextDue = min(s.nextDue, d.due)
		}
		s.commitHost(d, now)
		d.held = false
	}
	s.hosts.touched, s.hosts.touchedDomains = s.hosts.touched[:0], s.hosts.touchedDomains[:0]
	return nil
}

func (s *schedule) commitHost(h *host, now int64) {
	if h.forgettable(s.time.pace(now)) { // it stays in memory, as the store still has it in this turn
		hostTable.Remove(s.tx.Turn, h.name, h)
	} else {
		hostTable.Put(s.tx.Turn, h.name, h)
		s.forgetsLater(h.forgetAt(), now)
	}
	h.dirty = false
}

func (s *schedule) makeReady(h *host) {
	if !h.ready {
		h.ready = true
		s.ready = append(s.ready, h)
	}
}

// readyIfDue adds a host to the ready list if it is due now. If the list is full, the due index
// finds the host later.
func (s *schedule) readyIfDue(h *host, now int64) error {
	if h.ready || len(s.ready) >= maxDue {
		return nil
	}
	w, err := s.nextDueTime(h, now)
	if err == nil && w != 0 && w <= now && !h.grouped { // otherwise it waits in line
		s.makeReady(h)
	}
	return err
}

// loadDue moves due hosts from the index into the ready list. Their entries stay until they have
// been served.
func (s *schedule) loadDue(now int64) error {
	if s.nextDue > now || len(s.ready) >= maxDue {
		return nil
	}
	next, lines := int64(math.MaxInt64), 0
	err := s.scanTimes(table.Prefix(s.partition, kindDue), s.nextDue, func(key []byte, due int64, rest []byte) (bool, error) {
		if due > now || len(s.ready) >= maxDue {
			next = min(next, due)
			return false, nil
		}
		h, err := s.hosts.host(string(rest))
		switch {
		case err != nil:
			return false, err
		case !h.Has(key):
			s.stray(key)
			return true, nil
		case isDomain(h.name):
			lines++
			err = s.loadLine(h, now)
		default:
			s.makeReady(h)
		}
		next = min(next, due)
		return lines < maxDue, err
	})
	s.nextDue = next
	return err
}

// loadLine moves the due hosts of a domain's line into the ready list. Their entries stay until
// they have been served.
func (s *schedule) loadLine(d *host, now int64) error {
	s.hosts.markDirty(d) // it stays in memory
	from, n, empty := d.first, 0, true
	d.first = math.MaxInt64
	err := s.scanTimes(s.linePrefix(strings.TrimPrefix(d.name, lineMark)), from, func(key []byte, due int64, rest []byte) (bool, error) {
		empty = false
		if due > now || n == maxLine || len(s.ready) >= maxDue {
			d.first = min(d.first, due)
			return false, nil
		}
		h, err := s.hosts.host(string(rest))
		if err != nil {
			return false, err
		}
		if !h.Has(key) {
			s.stray(key)
			return true, nil
		}
		d.first = min(d.first, due)
		n++
		s.makeReady(h)
		return true, nil
	})
	if empty {
		d.lined = false
	}
	return err
}

// free reports whether a host's domain allows a request.
func (s *schedule) free(h *host, now int64) (bool, error) {
	d, err := s.hosts.domainOf(h)
	if err != nil {
		return false, err
	}
	return !d.held && d.inFlight < d.polite.Limit(h.shared) && s.time.earliest(&d.polite, h.shared, now) <= now, nil
}

// goes reports whether the domain of the next host in line allows a request. If the host must wait,
// so must those behind it.
func (s *schedule) goes(h *host, now int64) (bool, error) {
	free, err := s.free(h, now)
	if err != nil || h.domain.held {
		return false, err
	}
	h.domain.rules, h.domain.held = h.shared, !free
	s.hosts.markDirty(h.domain)
	return free, nil
}

// unpark puts parked hosts of a crawl back into the schedule, some in each call. It reports whether
// all are done.
func (s *schedule) unpark(name string, now int64) (done bool, err error) {
	pre := table.Name(table.Prefix(s.partition, kindParked), name)
	return s.doSome(pre, func(key, _ []byte, _ int) (int, error) {
		return 0, s.unparkHost(name, key, string(key[len(pre):]), now)
	})
}

// unparkHost puts back a host, given its key in the index.
func (s *schedule) unparkHost(crawl string, key []byte, name string, now int64) error {
	h, err := s.hosts.host(name)
	if err != nil {
		return err
	}
	if !h.Has(key) {
		s.stray(key)
		return nil
	}
	if !h.wants(crawl) { // it has dropped the deleted crawl that parked it
		return nil
	}
	h.of(crawl).parked, h.rules = false, nil
	s.hosts.markDirty(h)
	return s.readyIfDue(h, now)
}

// auditLine makes sure that the domain of a host in line knows the host and is in the index.
func (s *schedule) auditLine(h *host) error {
	d, err := s.hosts.host(lineMark + h.line)
	if err != nil || d.dirty || d.due == 0 && d.inFlight > 0 {
		return err
	}
	if d.lined && d.due != 0 {
		d.first = min(d.first, h.due)
		return s.tx.Verify(d, func(byte) {
			s.reportRepair(repairIndex, "an index lacks a domain, it is added", "domain", h.line)
			s.nextDue = min(s.nextDue, d.due)
		})
	}
	s.reportRepair(repairIndex, "a domain has hosts in its line and was forgotten", "domain", h.line)
	d.lined, d.due, d.first, d.rules = true, 0, 0, nil
	s.hosts.markDirty(d)
	return nil
}
