package state

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"seine/internal/base/weburl"
	"seine/internal/schedule/politeness"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/frontier/table"
)

// What of a store may be found wrong and is put right or quarantined: no key that
// contradicts another, and no value that cannot be read, keeps a partition from
// its work. They are the labels of repairsTotal.
const (
	repairIndex    = "index"     // an entry that leads nowhere, or one that is missing
	repairQueue    = "queue"     // a queue with another number of URLs, or with URLs that are not its own
	repairURL      = "url"       // a URL that cannot be read, or is in a state without what belongs to it
	repairHost     = "host"      // a host or domain that cannot be read
	repairCounters = "counters"  // counters that cannot be read, or count something else than there is
	repairInFlight = "in_flight" // a request under way of a URL that is not known
	repairTime     = "time"      // the time of the partition that cannot be read
	repairPosition = "position"  // a position in a stream that cannot be read
	repairMessage  = "message"   // a message that waits and cannot be read
)

var repairsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
	Name: "seine_frontier_repairs_total", Help: "Repaired or quarantined inconsistencies of the store, 0 if it is healthy: index, queue, url, host, counters, in_flight, position, time, message.",
}, []string{"what"})

func init() { // so that a rate is known from the first one on
	for _, what := range []string{repairIndex, repairQueue, repairURL, repairHost, repairCounters, repairInFlight, repairTime, repairPosition, repairMessage} {
		repairsTotal.WithLabelValues(what)
	}
}

// reportRepair tells that something was wrong: a person once for each kind and for as
// long as the partition is owned, since what is wrong once is often wrong a
// thousand times.
func (s *Partition) reportRepair(what, text string, about ...any) {
	repairsTotal.WithLabelValues(what).Inc()
	level := slog.LevelWarn
	if s.loggedRepairs[what] {
		level = slog.LevelDebug
	}
	s.loggedRepairs[what] = true
	s.log.Log(context.Background(), level, "the store contradicted itself and was repaired; more of the kind is counted by seine_frontier_repairs_total",
		append([]any{"what", what, "found", text}, about...)...)
}

// auditEvery bounds how often all URLs of a crawl are gone through because
// something of it was wrong.
const auditEvery = int64(time.Hour)

// audit has all URLs of a crawl counted again and looked for in the indexes: where
// one thing is wrong, others may be. That is a review with a count, which begins with the end of the turn.
func (s *Partition) audit(name string) { s.suspects[name] = true }

// auditAll is for faults of which it is not known what crawls they are of.
func (s *Partition) auditAll() { s.suspectAll = true }

// beginAudits begins the audits of this turn, of crawls that were not audited lately.
func (s *Partition) beginAudits() error {
	if s.suspectAll {
		for name := range s.crawls {
			s.suspects[name] = true
		}
	}
	for name := range s.suspects {
		c, err := s.activateCrawl(name)
		if err != nil {
			return err
		}
		c.beginAudit(s.time.now())
	}
	s.suspectAll = false
	clear(s.suspects)
	return nil
}

func (c *crawl) beginAudit(now int64) {
	if c.Started == 0 || c.Review.audits() || c.audited != 0 && now < c.audited+auditEvery {
		return
	}
	c.audited = now
	c.Review, c.dirty = &sweep{Count: &frontierapi.Counters{}}, true
}

// stuck reports whether URLs of a crawl wait, and nothing is left that they could
// wait for.
func (s *Partition) stuck(c *crawl, rules *Rules) bool {
	return c.Queued+c.Waiting > 0 && s.nextDue == math.MaxInt64 && s.nextRetry == math.MaxInt64 && len(s.ready) == 0 && len(s.touched) == 0 &&
		len(s.inFlight) == 0 && !c.working() && rules.State == crawlspec.Running && !limited(rules) && len(rules.sources) == 0
}

// checkInFlight looks whether what is in progress is what the crawls count.
func (s *Partition) checkInFlight() error {
	n := make(map[string]int64)
	for id := range s.inFlight {
		n[id.crawl]++
	}
	for name, c := range s.crawls {
		if c.InFlight != n[name] {
			s.reportRepair(repairInFlight, "in-flight requests differ from the counter of a crawl", "crawl", name, "counted", c.InFlight, "in_flight", n[name])
			s.audit(name)
		}
	}
	return nil
}

// audits reports whether a sweep is an audit.
func (w *sweep) audits() bool { return w != nil && w.Count != nil }

// has reports whether an audit has counted a URL.
func (w *sweep) has(hash messages.URLHash) bool {
	return w.audits() && bytes.Compare(hash[:], w.After) <= 0
}

// tally changes the counters of a crawl for a URL.
func (c *crawl) tally(hash messages.URLHash, by func(*frontierapi.Counters)) {
	by(&c.Counters)
	if c.Review.has(hash) {
		by(c.Review.Count)
	}
}

// auditURLs counts URLs, and restores what belongs to them.
func (s *Partition) auditURLs(c *crawl, ids []urlID, now int64) error {
	records := make([]*urlRecord, len(ids))
	for i, id := range ids {
		r, err := s.record(id)
		if err != nil {
			return err
		}
		if r == nil {
			continue
		}
		records[i] = r
		countAll(c.Review.Count, r)
		if r.Fetched {
			c.Review.Count.Pages++
		}
	}
	for i, id := range ids { // after all are counted, as restoring one changes counters
		if records[i] == nil || s.tx.changed[id] != nil {
			continue // or the store does not show yet what belongs to it
		}
		if err := s.auditURL(records[i], id, now); err != nil {
			return err
		}
	}
	return nil
}

// auditURL restores what belongs to a URL in its state.
func (s *Partition) auditURL(r *urlRecord, id urlID, now int64) error {
	if r.State == InFlight && s.inFlight[id] == nil {
		s.reportRepair(repairURL, "a URL is in flight without a request; it is queued again", "url", r.URL)
		rules, err := s.rules(id.crawl, 0)
		if err != nil {
			return err
		}
		return s.admit(r, id, rules, now)
	}
	if err := s.verifyURL(r, id); err != nil || r.State != Queued {
		return err
	}
	h, err := s.hostOf(r.URL)
	if err != nil || h.dirty {
		return err
	}
	return s.auditHost(h, h.of(id.crawl))
}

// verifyURL restores the index keys of a URL.
func (s *Partition) verifyURL(r *urlRecord, id urlID) error {
	queued := false
	err := s.tx.Verify(r, func(kind byte) {
		s.reportRepair(repairOf(kind), "an index lacks a URL, it is added", "index", string(kind), "url", r.URL)
		s.nextRetry = min(s.nextRetry, r.Due)
		queued = queued || kind == kindQueue
	})
	if err != nil || !queued {
		return err
	}
	h, err := s.hostOf(r.URL)
	if err == nil {
		s.push(r, id, h)
	}
	return err
}

// auditHost makes sure that a host with a queue is in its indexes, and that it counts the queue.
func (s *Partition) auditHost(h *host, w *crawlQueue) error {
	if w.queued == 0 {
		return s.recountQueue(h, w)
	}
	if h.due == 0 {
		s.markDirty(h)
		return nil
	}
	err := s.tx.Verify(h, func(kind byte) {
		s.reportRepair(repairIndex, "an index lacks a host, it is added", "index", string(kind), "host", h.name)
		s.nextDue = min(s.nextDue, h.due)
	})
	if err != nil || h.line == "" {
		return err
	}
	return s.auditLine(h)
}

// auditLine makes sure that the domain in whose line a host stands knows of it, and is in the index.
func (s *Partition) auditLine(h *host) error {
	d, err := s.domain(h.line)
	if err != nil || d.dirty || d.due == 0 && d.inFlight > 0 {
		return err
	}
	if d.lined && d.due != 0 {
		d.first = min(d.first, h.due)
		return s.tx.Verify(d, func(byte) {
			s.reportRepair(repairIndex, "an index lacks a domain, it is added", "domain", d.name)
			s.nextDue = min(s.nextDue, d.due)
		})
	}
	s.reportRepair(repairIndex, "a domain has hosts in its line and was forgotten", "domain", d.name)
	d.lined, d.due, d.first, d.rules = true, 0, 0, nil
	s.touchDomain(d)
	return nil
}

// repairOf is the label of a fault of an index.
func repairOf(index byte) string {
	switch index {
	case kindQueue:
		return repairQueue
	case kindInFlight:
		return repairInFlight
	}
	return repairIndex
}

// stray removes an entry of an index that no record derives. Where one is wrong, others may be.
func (s *Partition) stray(key []byte) {
	key = bytes.Clone(key)
	s.tx.Delete(key)
	s.reportRepair(repairOf(key[2]), "an entry of an index leads nowhere, it is removed", "key", key)
	s.auditAll()
}

// endAudit takes over what an audit has counted.
func (s *Partition) endAudit(name string, c *crawl) {
	n := c.Review.Count
	n.Pages = max(n.Pages, c.Pages) // a page may have come more than once
	if !n.SameStates(&c.Counters) || n.Planned != c.Planned || n.Recrawling != c.Recrawling {
		s.reportRepair(repairCounters, "counters are put right", "crawl", name, "open", c.Pending(), "open_counted", n.Pending(), "known", c.Known(), "known_counted", n.Known())
	}
	c.Queued, c.InFlight, c.Waiting, c.Parsing, c.Done, c.Failed = n.Queued, n.InFlight, n.Waiting, n.Parsing, n.Done, n.Failed
	c.Planned, c.Recrawling, c.FailedBy, c.Excluded, c.Pages = n.Planned, n.Recrawling, n.FailedBy, n.Excluded, n.Pages
	c.LeftOut = n.LeftOut
}

// recountQueue counts the queue of a crawl at a host.
func (s *Partition) recountQueue(h *host, w *crawlQueue) error {
	n := 0
	err := s.store.scan(s.queuePrefix(h.name, w.crawl), nil, func(_, _ []byte) (bool, error) { n++; return true, nil })
	if err != nil || n == w.queued {
		return err
	}
	s.reportRepair(repairQueue, "a queue has another number of URLs than its host counts", "host", h.name, "crawl", w.crawl, "counted", w.queued, "queued", n)
	s.dropWindow(w)
	w.queued, h.rules = n, nil
	s.markDirty(h)
	s.audit(w.crawl)
	return nil
}

// emptyQueue is called when a queue turns out to have no URL at all.
func (s *Partition) emptyQueue(h *host, w *crawlQueue) {
	s.dropWindow(w)
	if w.queued != 0 {
		s.reportRepair(repairQueue, "a queue is empty and its host counts URLs in it", "host", h.name, "crawl", w.crawl, "counted", w.queued)
		w.queued, h.rules = 0, nil
		s.markDirty(h)
		s.audit(w.crawl)
	}
}

// misplaced takes an entry out of a queue that is not that of a URL queued there,
// and puts the URL where it belongs.
func (s *Partition) misplaced(pl queueKey, r *urlRecord, id urlID, h *host) error {
	if key := append(s.queuePrefix(h.name, id.crawl), pl[:]...); r == nil || !r.Has(key) {
		s.tx.Delete(key)
	}
	s.dropAt(pl, id.crawl, h)
	s.reportRepair(repairQueue, "a queue has a URL that does not belong there, it is taken out", "host", h.name, "crawl", id.crawl, "url_hash", id.hash)
	s.audit(id.crawl)
	if r == nil || r.State != Queued {
		return nil
	}
	return s.verifyURL(r, id)
}

// unreadable deals with a URL record that cannot be read: it is quarantined, and
// the URL is not known any more.
func (s *Partition) unreadable(id urlID, err error) error {
	s.tx.records[id] = nil
	for _, index := range []byte{kindFailed, kindSeed, kindInFlight} {
		s.tx.Delete(urlTable.Key(table.Prefix(s.partition, index), id))
	}
	s.reportRepair(repairURL, "the record of a URL cannot be read, it is set aside", "crawl", id.crawl, "url_hash", id.hash, "error", err)
	s.audit(id.crawl)
	return s.setAside(urlTable.At(s.partition, id))
}

// setAside moves a value out of the way, to where a person may look at it.
func (s *Partition) setAside(key []byte) error {
	return s.tx.Quarantine(kindSetAside, key)
}

// rebuildHost makes a host anew whose record cannot be read, of its queues and
// URLs. It rests first: when it was asked last is not known.
func (s *Partition) rebuildHost(name string, cause error) (*host, error) {
	s.reportRepair(repairHost, "a host record cannot be read; it is rebuilt", "host", name, "error", cause)
	h := &host{name: name}
	h.polite.End(&politeness.Rules{}, s.time.pace(s.time.now()), politeness.Outcome{Kind: politeness.Neutral}, 0)
	first := messages.HashURL("http://" + name + "/")
	crawls, err := s.crawlNames()
	if err != nil {
		return nil, err
	}
	for _, crawl := range crawls {
		w := &crawlQueue{crawl: crawl}
		err = s.store.scan(s.queuePrefix(name, crawl), nil, func(_, _ []byte) (bool, error) { w.queued++; return true, nil })
		if err != nil {
			return nil, err
		}
		// URLs of a host have the first bytes of their hashes in common.
		of := append(table.Name(table.Prefix(s.partition, kindURL), crawl), first[:4]...)
		err = s.store.scan(of, nil, func(_, value []byte) (bool, error) {
			if r, err := decodeRecord(value); err == nil && r.Fetched && weburl.Host(r.URL) == name {
				w.pages++
			}
			return true, nil
		})
		if err != nil {
			return nil, err
		}
		if w.queued > 0 || w.pages > 0 {
			h.work = append(h.work, w)
		}
	}
	s.markDirty(h)
	return h, s.setAside(hostTable.At(s.partition, name))
}

// rebuildDomain does the same of a domain, of its hosts.
func (s *Partition) rebuildDomain(name string, cause error) (*domain, error) {
	s.reportRepair(repairHost, "a domain record cannot be read; it is rebuilt", "domain", name, "error", cause)
	d := &domain{name: name, lined: true}
	d.polite.End(&politeness.Rules{}, s.time.pace(s.time.now()), politeness.Outcome{Kind: politeness.Neutral}, 0)
	pre := table.Prefix(s.partition, kindHost)
	err := s.store.scan(pre, nil, func(key, value []byte) (bool, error) {
		h := &host{name: string(key[len(pre):])}
		if weburl.Domain(h.hostname()) != name {
			return true, nil
		}
		if live := s.hosts[h.name]; live != nil {
			h = live
		} else if stored, err := decodeHost(h.name, value); err == nil { // or its pages are counted again, and it is told
			h = stored
		}
		for _, w := range h.work {
			d.of(w.crawl).pages += w.pages
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	s.touchDomain(d)
	return d, s.setAside(domainTable.At(s.partition, name))
}

// unreadableCounters makes the state of a crawl anew whose counters cannot be read.
// Whether it came after the last deletion of its name is seen by its visits.
func (s *Partition) unreadableCounters(name string, c *crawl, cause error) error {
	s.reportRepair(repairCounters, "the counters of a crawl cannot be read; they are rebuilt", "crawl", name, "error", cause)
	c.crawlState = crawlState{}
	c.Started, c.Opening, c.Unchanged = 1, true, true
	c.Review, c.dirty = &sweep{Count: &frontierapi.Counters{}}, true
	rules, err := s.specs.Rules(name, 0)
	if err != nil || rules.Deletion == nil {
		return err
	}
	return s.store.scan(table.Name(table.Prefix(s.partition, kindURL), name), nil, func(_, value []byte) (bool, error) {
		r, err := decodeRecord(value)
		if err == nil && messages.FirstRound(0, messages.Deletions(r.Round)) == messages.FirstRound(0, rules.Deletions()) {
			c.Since = rules.Since()
		}
		return err != nil, nil
	})
}
