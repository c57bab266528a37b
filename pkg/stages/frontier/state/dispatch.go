package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"time"

	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/frontier/table"
)

// inFlightTimeout is how long a request may be under way before the frontier asks
// what became of it. Asking is cheap and changes nothing while it is in FETCH.
const inFlightTimeout = int64(60 * time.Second)

// readyIfDue puts a host into the ready list if it can be asked now. One that
// finds no place there is found by its entry in the due index.
func (s *Partition) readyIfDue(h *host, now int64) error {
	if h.ready || len(s.ready) >= maxDue {
		return nil
	}
	w, err := s.nextDueTime(h, now)
	if err == nil && w != 0 && w <= now && !h.grouped { // or it waits in line
		s.makeReady(h)
	}
	return err
}

// requeueDue moves URLs whose wait is over back into their queues: for another
// attempt, or for their next visit.
func (s *Partition) requeueDue(now int64) error {
	if s.nextRetry > now {
		return nil
	}
	var due []urlID
	pre := table.Prefix(s.partition, kindRetry)
	from := binary.BigEndian.AppendUint64(pre[:len(pre):len(pre)], uint64(max(s.nextRetry, 0)))
	s.nextRetry = math.MaxInt64
	err := s.scanTimes(pre, from, func(key []byte, at int64, rest []byte) (bool, error) {
		if at > now || len(due) >= maxDue {
			s.nextRetry = at
			return false, nil
		}
		id, _ := idAtEnd(rest)
		r, err := s.record(id)
		switch {
		case err != nil:
			return false, err
		case s.isPendingDeletion(id.crawl):
			s.tx.Delete(bytes.Clone(key))
		case r == nil || !r.Has(key):
			s.stray(key)
		case r.Due == at: // or it was moved in this turn
			due = append(due, id)
		}
		return true, nil
	})
	for _, id := range due {
		if err == nil {
			err = s.wakeUp(id, now)
		}
	}
	return err
}

// maxDue bounds what is taken from an index at once.
const maxDue = 1024

// wakeUp queues a URL whose time has come.
func (s *Partition) wakeUp(id urlID, now int64) error {
	r, err := s.record(id)
	if err != nil || r == nil {
		return err
	}
	rules, err := s.rules(id.crawl, 0)
	if err != nil {
		return err
	}
	switch {
	case r.State == Waiting:
		r.Due = 0
		return s.admit(r, id, rules, now)
	case r.State.ended():
		due := r.Due
		if s.replan(r, id, rules, now); r.Due != due {
			return nil // the rules have changed, and have it at another time, or not at all
		}
		return s.visitAgain(r, id, true, s.era(), rules, now)
	}
	return nil
}

// loadDue takes hosts that are due from the index into the ready list. Their
// entries stay until they have been served.
func (s *Partition) loadDue(now int64) error {
	if s.nextDue > now || len(s.ready) >= maxDue {
		return nil
	}
	pre := table.Prefix(s.partition, kindDue)
	from := binary.BigEndian.AppendUint64(pre[:len(pre):len(pre)], uint64(max(s.nextDue, 0)))
	next := int64(math.MaxInt64)
	var lines []*domain
	err := s.scanTimes(pre, from, func(key []byte, due int64, rest []byte) (bool, error) {
		if due > now || len(s.ready) >= maxDue {
			next = min(next, due)
			return false, nil
		}
		name := string(rest)
		if name, isDomain := strings.CutPrefix(name, lineMark); isDomain {
			d, err := s.domain(name)
			switch {
			case err != nil:
				return false, err
			case !d.Has(key):
				s.stray(key)
			default:
				next = min(next, due)
				lines = append(lines, d)
				s.touchDomain(d) // it stays in memory
			}
			return len(lines) < maxDue, nil
		}
		h, err := s.host(name)
		switch {
		case err != nil:
			return false, err
		case !h.Has(key):
			s.stray(key)
		default:
			next = min(next, due)
			s.makeReady(h)
		}
		return true, nil
	})
	s.nextDue = next
	for _, d := range lines {
		if err == nil {
			err = s.loadLine(d, now)
		}
	}
	return err
}

// Dispatch picks requests that are due while there is room, one host after the other,
// so that a large host does not hold up the others.
func (s *Partition) Dispatch(now int64, room Room) ([]*Request, error) {
	if err := s.loadDue(now); err != nil {
		return nil, err
	}
	s.renderLine.left = room.Renders
	var out []*Request
	for serving := len(s.ready); serving > 0 && len(out) < room.Requests; {
		h := s.ready[0]
		s.ready = s.ready[1:]
		req, err := s.nextOfHost(h, now)
		if err != nil {
			return nil, err
		}
		due := int64(0)
		if req != nil {
			out = append(out, req)
			if due, err = s.nextDueTime(h, now); err != nil {
				return nil, err
			}
		}
		if due == 0 || due > now {
			h.ready = false
			serving--
			continue
		}
		s.ready = append(s.ready, h)
	}
	return out, nil
}

// nextOfHost takes the host's first request, nil if it has none that may go now. The
// crawls of a host take turns.
func (s *Partition) nextOfHost(h *host, now int64) (*Request, error) {
	if goes, err := s.hostMayGo(h, now); err != nil || !goes {
		return nil, err
	}
	s.renderLine.held = false
	for range h.work {
		w := h.work[h.turn%len(h.work)]
		h.turn++
		if w.queued == 0 || w.parked {
			continue
		}
		req, err := s.nextOfCrawl(h, w, now)
		if req != nil || err != nil {
			return req, err
		}
	}
	if s.renderLine.held {
		h.notBefore = s.renderLine.slot(now)
		s.markDirty(h)
	}
	return nil, nil
}

// hostMayGo reports whether a host may be asked now. What is queued for one that is given
// up fails.
func (s *Partition) hostMayGo(h *host, now int64) (bool, error) {
	due, err := s.nextDueTime(h, now)
	if err != nil || due == 0 {
		s.markDirty(h) // its entry is not right
		return false, err
	}
	if due > now || h.grouped != (h.line != "") { // other than the index says, as outside the host's hours
		s.markDirty(h)
	}
	if due > now {
		return false, nil
	}
	if strict, err := s.rulesOf(h); err != nil || s.isHostAbandoned(h, strict, now) {
		return false, errors.Join(err, s.failQueued(h, now))
	}
	if h.grouped {
		return s.goes(h, now)
	}
	return true, nil
}

// nextOfCrawl takes the first request that a crawl has for a host.
func (s *Partition) nextOfCrawl(h *host, w *crawlQueue, now int64) (*Request, error) {
	rules, err := s.rules(w.crawl, 0)
	if err != nil || !s.crawlMayGo(h, w, rules, now) {
		return nil, err
	}
	pace := rules.paceOf(h.hostname())
	had, err := s.pages(h, w.crawl, rules)
	if err != nil {
		return nil, err
	}
	for range maxDiscard {
		r, id, err := s.head(h, w)
		if err != nil || r == nil {
			return nil, err
		}
		reason := s.trapAtDispatch(r, id, rules)
		if more := pace.maxPages - had.pages; pace.maxPages > 0 && reason == "" && !r.Fetched {
			switch {
			case more <= 0:
				reason = frontierapi.ReasonHostPages
			case more <= int64(had.inFlight): // what is in progress may be the last pages
				return nil, nil
			}
		}
		if reason == "" && rules.mayRender(r.URL) && !s.renderLine.takes() {
			return nil, nil
		}
		s.drop(r, id, h)
		if reason == "" {
			r.Sent++
			r.sentInRun()
			r.GateTried = r.Gate
			sentTotal.Inc()
			return s.launch(r, id, h, now)
		}
		s.setState(r, id, Excluded, reason, now)
	}
	return nil, nil
}

// crawlMayGo reports whether a crawl may ask a host that may be asked.
func (s *Partition) crawlMayGo(h *host, w *crawlQueue, rules *Rules, now int64) bool {
	pace := rules.paceOf(h.hostname())
	switch c := s.crawl(w.crawl); {
	case c.pendingDeletion(rules):
		return false // it is about to be taken away
	case pace.state != crawlspec.Running, limited(rules) && c.quota.spent(c, rules, s.time.wall(now)):
		s.park(h, w)
		return false
	case limited(rules) && c.quota.short(c, rules):
		return false
	case rules.GroupBy != crawlspec.GroupByIP || h.ip == "":
		return true
	}
	wait := s.addresses.slot(h.ip, h.polite.Delay(&pace.Rules))
	if wait > 0 {
		h.notBefore = now + int64(wait)
		s.markDirty(h)
	}
	return wait <= 0
}

// head returns the first URL that a crawl has in a host's queue, nil if there is none.
//
// The queue is ordered by priority, then by depth, then by arrival, the lowest number of each first
// (newQueueKey in queue.go); arrival is the order in which the partition has found the URLs. This is the
// order within one crawl and one host only: Dispatch has the hosts take turns, and nextOfHost the
// crawls of a host.
func (s *Partition) head(h *host, w *crawlQueue) (*urlRecord, urlID, error) {
	for range maxDiscard {
		q := s.queueOf(w)
		if err := s.fill(h, w, q); err != nil {
			return nil, urlID{}, err
		}
		if len(q.window) == 0 {
			s.emptyQueue(h, w)
			return nil, urlID{}, nil
		}
		pl := q.window[0]
		id := urlID{w.crawl, pl.hash()}
		r, err := s.record(id)
		if err != nil || r != nil && r.State == Queued && newQueueKey(r, id.hash) == pl && weburl.Host(r.URL) == h.name {
			return r, id, err
		}
		if err := s.misplaced(pl, r, id, h); err != nil {
			return nil, urlID{}, err
		}
	}
	return nil, urlID{}, nil
}

// launch makes a URL one that is in progress.
func (s *Partition) launch(r *urlRecord, id urlID, h *host, now int64) (*Request, error) {
	r.Due, r.FetchSeq = 0, 0
	s.setState(r, id, InFlight, r.leftOut(), now)
	req := &Request{urlRecord: r, id: id, host: h, deadline: now + inFlightTimeout, renders: s.mayRender(id.crawl, r.URL)}
	s.nextInFlightDeadline = min(s.nextInFlightDeadline, req.deadline)
	if err := s.addInFlight(req); err != nil {
		return nil, err
	}
	if rules, err := s.rulesOf(h); err == nil && rules != nil {
		s.spacing.asked(h.polite.Delay(rules), now)
		h.polite.Begin(rules, s.time.pace(now))
		h.domain.polite.Begin(rules, s.time.pace(now))
	}
	s.markDirty(h)
	return req, nil
}

// Message returns what is published for a request.
func (s *Partition) Message(req *Request) (*messages.Request, error) {
	rules, err := s.rules(req.id.crawl, 0)
	if err != nil {
		return nil, err
	}
	pace := rules.paceOf(req.host.hostname())
	delay := req.host.polite.Delay(&pace.Rules)
	if rules.GroupBy == crawlspec.GroupByDomain {
		delay = max(delay, req.host.domain.polite.Delay(&pace.Rules))
	}
	m := &messages.Request{
		Crawl: req.id.crawl, Rev: rules.Rev, URL: req.URL, Visit: req.visit(req.id.hash), Attempt: req.Sent,
		Depth: req.Depth, Referrer: req.Referrer, Redirects: req.Redirects, Run: req.SentRun,
		Delay: messages.Millis(delay), Interval: messages.Millis(pace.Interval + time.Millisecond - 1), Epoch: s.epoch,
		NoResend: req.host.polite.Failing(), Follow: req.GateTried, Sitemap: req.Sitemap, Render: rules.mayRender(req.URL),
	}
	if m.Metadata, m.Inherit, err = s.metadataOf(req.urlRecord, req.id); err != nil {
		return nil, err
	}
	tells := rules.Gone == crawlspec.WhenGoneRecord
	m.Recorded = tells && req.Recorded
	if rules.Duplicates.Unchanged == crawlspec.UnchangedDrop && req.Digest != 0 && req.Class != messages.Gone && (req.Recorded || !tells) {
		m.Digest = digestText(req.Digest)
	}
	// A run that does not know where an unchanged page leads must have the page.
	if req.Digest != 0 && s.crawl(req.id.crawl).knowsLinks(req.urlRecord) { // there is a page that the response may be the same as
		m.ETag, m.LastModified = req.ETag, req.LastModified
		if !req.linksTaken() {
			m.PageRound = req.PageRound
		}
	}
	return m, nil
}

// MarkSent notes where in FETCH a request is; it becomes durable with the next turn that
// changes anything.
func (s *Partition) MarkSent(wire *messages.Request, seq uint64) {
	id := urlID{wire.Crawl, wire.Visit.URL}
	req := s.inFlight[id]
	if req == nil || req.Sent != wire.Attempt {
		return
	}
	req.FetchSeq = seq
	s.tx.save(id, req.urlRecord)
}

// resend abandons a request that is nowhere, and sends its visit again.
func (s *Partition) resend(req *Request, now int64) {
	req.Sent++
	req.FetchSeq, req.missing, req.unsent, req.deadline = 0, false, true, now+inFlightTimeout
	s.tx.save(req.id, req.urlRecord)
}
