package state

import (
	"bytes"
	"math"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// auditEvery is the minimum time between two audits of a crawl. An audit checks all its URLs after
// an inconsistency was found.
const auditEvery = int64(time.Hour)

// beginAudits begins the audits requested in this turn, except of crawls that were audited
// recently.
func (cs *crawls) beginAudits() error {
	if cs.suspectAll {
		for name := range cs.active {
			cs.suspects[name] = true
		}
	}
	for name := range cs.suspects {
		c, err := cs.activate(name)
		if err != nil {
			return err
		}
		c.beginAudit(cs.time.now())
	}
	cs.suspectAll = false
	clear(cs.suspects)
	return nil
}

func (c *crawl) beginAudit(now int64) {
	if c.Started == 0 || c.Review.audits() || c.audited != 0 && now < c.audited+auditEvery {
		return
	}
	c.audited = now
	c.Review, c.dirty = &sweep{Count: &frontierapi.Counters{}}, true
}

// audits reports whether a sweep is an audit.
func (w *sweep) audits() bool { return w != nil && w.Count != nil }

// has reports whether an audit has counted a URL.
func (w *sweep) has(hash messages.URLHash) bool {
	return w.audits() && bytes.Compare(hash[:], w.After) <= 0
}

// stuck reports whether a crawl has waiting URLs but nothing left that they could wait for.
func (p *Partition) stuck(c *crawl, rules *Rules) bool {
	return c.Queued+c.Waiting > 0 && p.schedule.nextDue == math.MaxInt64 && p.urls.nextRetry == math.MaxInt64 && len(p.schedule.ready) == 0 && len(p.hosts.touched) == 0 &&
		len(p.urls.inFlight) == 0 && !c.working() && rules.State == crawlspec.Running && !limited(rules) && len(rules.sources) == 0
}

// auditURLs counts URLs and restores their missing index keys.
func (rv *reviews) auditURLs(c *crawl, ids []urlID, now int64) error {
	records := make([]*urlRecord, len(ids))
	for i, id := range ids {
		r, err := rv.urls.record(id)
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
		if records[i] == nil || rv.tx.changed[id] != nil {
			continue // the store does not show this turn's changes yet
		}
		if err := rv.auditURL(records[i], id, now); err != nil {
			return err
		}
	}
	return nil
}

// auditURL restores the index keys that the state of a URL requires.
func (rv *reviews) auditURL(r *urlRecord, id urlID, now int64) error {
	if r.State == InFlight && rv.urls.inFlight[id] == nil {
		rv.reportRepair(repairURL, "a URL is in flight without a request; it is queued again", "url", r.URL)
		rules, err := rv.crawls.rules(id.crawl, 0)
		if err != nil {
			return err
		}
		return rv.visits.admit(r, id, rules, now)
	}
	if r.barred() {
		rv.urls.noteBarred(rv.crawls.get(id.crawl), id.crawl, r.URL)
	}
	if err := rv.queues.verifyURL(r, id); err != nil || r.State != Queued {
		return err
	}
	h, err := rv.hosts.hostOf(r.URL)
	if err != nil || h.dirty {
		return err
	}
	return rv.auditHost(h, h.of(id.crawl))
}

// auditHost checks that a host with a queue is in its indexes, and recounts a queue counted as
// empty.
func (rv *reviews) auditHost(h *host, w *hostQueue) error {
	if w.queued == 0 {
		return rv.queues.recountQueue(h, w)
	}
	if h.due == 0 {
		rv.hosts.markDirty(h)
		return nil
	}
	err := rv.tx.Verify(h, func(kind byte) {
		rv.reportRepair(repairIndex, "an index lacks a host, it is added", "index", string(kind), "host", h.name)
		rv.schedule.nextDue = min(rv.schedule.nextDue, h.due)
	})
	if err != nil || h.line == "" {
		return err
	}
	return rv.schedule.auditLine(h)
}

// endAudit replaces the counters of a crawl with those of the audit.
func (rv *reviews) endAudit(name string, c *crawl) {
	n := c.Review.Count
	n.Pages = max(n.Pages, c.Pages) // a page may have been fetched more than once
	if !n.SameStates(&c.Counters) || n.Planned != c.Planned || n.Recrawling != c.Recrawling {
		rv.reportRepair(repairCounters, "counters are put right", "crawl", name, "open", c.Pending(), "open_counted", n.Pending(), "known", c.Known(), "known_counted", n.Known())
	}
	c.Queued, c.InFlight, c.Waiting, c.Parsing, c.Done, c.Failed = n.Queued, n.InFlight, n.Waiting, n.Parsing, n.Done, n.Failed
	c.Planned, c.Recrawling, c.FailedBy, c.Excluded, c.Pages = n.Planned, n.Recrawling, n.FailedBy, n.Excluded, n.Pages
	c.LeftOut = n.LeftOut
	c.audited = rv.time.now() // the audit also repaired what its last turn found
}
