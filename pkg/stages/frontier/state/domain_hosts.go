package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"seine/internal/base/weburl"
	"seine/internal/schedule/politeness"
	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/table"
)

// domain is what the hosts of a registrable domain have in common: how it was
// asked last, and by how many requests at once. It is kept for every request, so
// that a crawl may group by domain (or no longer do so) at any time. Queues,
// sources, pauses and the breaker are each host's own.
//
// Hosts whose crawls group by domain stand in line for it, by the time at which
// they may be asked themselves; in the due index, the domain stands for all of
// them. They go in this order: none passes the first because it is content with
// less.
type domain struct {
	table.Row
	polite politeness.State
	due    int64 // its entry in the due index, 0 if it has none
	lined  bool  // hosts may be in its line
	work   []*crawlQueue

	name     string
	inFlight int
	refs     int   // hosts in memory that point here
	first    int64 // nobody in line is due before; math.MaxInt64 if the line is empty
	dirty    bool  // differs from the store
	held     bool  // the first in line must wait, and so must the others, in this turn
	rules    *politeness.Rules
}

// domainFormat is the first byte of an encoded domain.
const domainFormat = 1

// maxLine bounds how many hosts of a line are taken from it at once. One goes
// where there is a delay; others are for those that have a reason of their own
// not to.
const maxLine = 8

// lineMark starts the name of a domain in the due index; no host begins so.
const lineMark = "\x01"

func (s *Partition) linePrefix(name string) []byte {
	return table.Name(table.Prefix(s.partition, kindLine), name)
}

// domainOf returns the domain of a host.
func (s *Partition) domainOf(h *host) (*domain, error) {
	if h.domain == nil {
		d, err := s.domain(weburl.Domain(h.hostname()))
		if err != nil {
			return nil, err
		}
		h.domain = d
		d.refs++
	}
	return h.domain, nil
}

// domain returns a domain, from memory or from the store.
func (s *Partition) domain(name string) (*domain, error) {
	if d := s.domains[name]; d != nil {
		return d, nil
	}
	d, err := s.readDomain(name)
	if errors.Is(err, errHost) {
		d, err = s.rebuildDomain(name, err)
	}
	if err == nil {
		s.domains[name] = d
	}
	return d, err
}

// readDomain reads a domain from the store.
func (s *Partition) readDomain(name string) (*domain, error) {
	d, found, err := domainTable.Load(s.tx.Turn, name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read domain %s: %w", name, err)
	case !found:
		return &domain{name: name, first: math.MaxInt64}, nil
	}
	if d.first = math.MaxInt64; d.lined {
		d.first = 0 // the line is to be looked at
	}
	d.polite.Bound(s.time.pace(s.time.now()))
	return d, nil
}

// evictDomains forgets those that no host in memory belongs to.
func (s *Partition) evictDomains() {
	for name, d := range s.domains {
		if d.refs == 0 && d.inFlight == 0 && !d.dirty {
			delete(s.domains, name)
		}
	}
}

// of returns what there is of a crawl at the domain.
func (d *domain) of(crawl string) *crawlQueue {
	for _, w := range d.work {
		if w.crawl == crawl {
			return w
		}
	}
	d.work = append(d.work, &crawlQueue{crawl: crawl})
	return d.work[len(d.work)-1]
}

// touchDomain notes that a domain changed.
func (s *Partition) touchDomain(d *domain) {
	if !d.dirty {
		d.dirty = true
		s.touchedDomains = append(s.touchedDomains, d)
	}
}

// shared are the rules of a host for its domain: that a host is down, or has hours,
// is no reason to leave the others alone.
func shared(r *politeness.Rules) *politeness.Rules {
	if r == nil {
		return nil
	}
	both := *r
	both.Breaker, both.Hours = politeness.Breaker{}, politeness.Hours{}
	return &both
}

// free reports whether a host may be asked as far as its domain is concerned.
func (s *Partition) free(h *host, now int64) (bool, error) {
	d, err := s.domainOf(h)
	if err != nil {
		return false, err
	}
	return !d.held && d.inFlight < d.polite.Limit(h.shared) && s.time.earliest(&d.polite, h.shared, now) <= now, nil
}

// goes reports what free does of a host whose turn it is. If it must wait, so
// must those behind it.
func (s *Partition) goes(h *host, now int64) (bool, error) {
	free, err := s.free(h, now)
	if err != nil || h.domain.held {
		return false, err
	}
	h.domain.rules, h.domain.held = h.shared, !free
	s.touchDomain(h.domain)
	return free, nil
}

// wantedDomain is the entry that a domain must have in the due index.
func (s *Partition) wantedDomain(d *domain, now int64) int64 {
	switch {
	case d.first == math.MaxInt64:
		return 0
	case d.rules == nil: // whose turn it is is not known yet
		return max(min(d.first, now+lookAgain), 1)
	case d.inFlight >= d.polite.Limit(d.rules):
		return 0
	}
	return max(min(max(d.first, s.time.earliest(&d.polite, d.rules, now)), now+lookAgain), 1)
}

// loadLine takes the hosts of a domain that are due from its line into the ready
// list. Their entries stay until they have been served.
func (s *Partition) loadLine(d *domain, now int64) error {
	s.touchDomain(d) // it stays in memory
	pre := s.linePrefix(d.name)
	from := binary.BigEndian.AppendUint64(pre[:len(pre):len(pre)], uint64(max(d.first, 0)))
	d.first = math.MaxInt64
	n, empty := 0, true
	err := s.scanTimes(pre, from, func(key []byte, due int64, rest []byte) (bool, error) {
		empty = false
		if due > now || n == maxLine || len(s.ready) >= maxDue {
			d.first = min(d.first, due)
			return false, nil
		}
		h, err := s.host(string(rest))
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

func (s *Partition) makeReady(h *host) {
	if !h.ready {
		h.ready = true
		s.ready = append(s.ready, h)
	}
}

// relist moves a host into the line of its domain, or out of it, if its crawls
// group in another way now.
func (s *Partition) relist(h *host) error {
	_, err := s.rulesOf(h)
	if h.due != 0 && h.grouped != (h.line != "") {
		s.markDirty(h)
	}
	return err
}

// commitDomain stores a domain, after its hosts.
func (s *Partition) commitDomain(d *domain, now int64) {
	if d.due = s.wantedDomain(d, now); d.due != 0 {
		s.nextDue = min(s.nextDue, d.due)
	}
	if d.forgettable(s.time.pace(now)) {
		domainTable.Remove(s.tx.Turn, d.name, d)
	} else {
		domainTable.Put(s.tx.Turn, d.name, d)
		s.forgetsLater(d.forgetAt(), now)
	}
	d.dirty, d.held = false, false
}

// schedule sets when a host is due, and in which line.
func (s *Partition) schedule(h *host, want int64) error {
	line := ""
	if want != 0 && h.grouped {
		d, err := s.domainOf(h)
		if err != nil {
			return err
		}
		line = d.name
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
		s.touchDomain(h.domain)
	}
	h.due, h.line = want, line
	return nil
}

// pages returns the books of a crawl that its max_pages_per_host is about.
func (s *Partition) pages(h *host, crawl string, rules *Rules) (*crawlQueue, error) {
	if rules.GroupBy != crawlspec.GroupByDomain {
		return h.of(crawl), nil
	}
	d, err := s.domainOf(h)
	if err != nil {
		return nil, err
	}
	return d.of(crawl), nil
}

// Encode encodes the domain.
func (d *domain) Encode(b []byte) []byte {
	b = append(b, domainFormat)
	b = d.polite.Append(b)
	b = binary.AppendVarint(b, d.due)
	lined := byte(0)
	if d.lined {
		lined = 1
	}
	b = append(b, lined)
	for _, w := range d.work {
		if w.pages > 0 {
			b = appendText(b, w.crawl)
			b = binary.AppendUvarint(b, uint64(w.pages))
		}
	}
	return b
}

func decodeDomain(name string, b []byte) (*domain, error) {
	d := &domain{name: name}
	return d, d.decode(b)
}

func (d *domain) decode(b []byte) (err error) {
	bad := fmt.Errorf("%w: domain %s", errHost, d.name)
	if len(b) == 0 || b[0] != domainFormat {
		return bad
	}
	if d.polite, b, err = politeness.ReadState(b[1:]); err != nil {
		return fmt.Errorf("%w: %w", bad, err)
	}
	r := decoder{b: b}
	d.due, d.lined = r.int(), r.byte() == 1
	for len(r.b) > 0 && !r.bad {
		d.work = append(d.work, &crawlQueue{crawl: r.text(), pages: int64(r.uint())})
	}
	if r.bad {
		return bad
	}
	return nil
}

// inLine reports whether a host of a domain's line could be asked for a crawl now.
func (s *Partition) inLine(name, crawl string, now int64) (found bool, err error) {
	pre := s.linePrefix(name)
	n := 0
	err = s.scanTimes(pre, nil, func(_ []byte, at int64, rest []byte) (bool, error) {
		if n++; at > now || n > maxLine {
			return false, nil
		}
		h, err := s.host(string(rest))
		if err == nil {
			found, err = s.isHostDue(h, crawl, now)
		}
		return !found, err
	})
	return found, err
}

// firstInLine is the host of a domain's line that is due first, "" if there is none.
func (s *Partition) firstInLine(name string) (host string) {
	pre := s.linePrefix(name)
	_ = s.scanTimes(pre, nil, func(_ []byte, _ int64, rest []byte) (bool, error) {
		host = string(rest)
		return false, nil
	})
	return host
}
