package state

import (
	"errors"

	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

// Dispatcher picks the next requests.
type Dispatcher struct {
	*core
	visits     *visits
	requests   *Requests
	renderLine renderLine
}

// Next picks due requests while there is capacity. Hosts take turns, so that a large host does not
// delay the others.
func (d *Dispatcher) Next(now int64, room FetchCapacity) ([]*Request, error) {
	if err := d.schedule.loadDue(now); err != nil {
		return nil, err
	}
	d.renderLine.left = room.Renders
	var out []*Request
	for serving := len(d.schedule.ready); serving > 0 && len(out) < room.Requests; {
		h := d.schedule.ready[0]
		d.schedule.ready = d.schedule.ready[1:]
		req, err := d.nextOfHost(h, now)
		if err != nil {
			return nil, err
		}
		due := int64(0)
		if req != nil {
			out = append(out, req)
			if due, err = d.schedule.nextDueTime(h, now); err != nil {
				return nil, err
			}
		}
		if due == 0 || due > now {
			h.ready = false
			serving--
			continue
		}
		d.schedule.ready = append(d.schedule.ready, h)
	}
	return out, nil
}

// nextOfHost takes the host's first request, nil if none may be sent now. The crawls of a host take
// turns.
func (d *Dispatcher) nextOfHost(h *host, now int64) (*Request, error) {
	if goes, err := d.hostMayGo(h, now); err != nil || !goes {
		return nil, err
	}
	d.renderLine.held = false
	for range h.work {
		w := h.work[h.turn%len(h.work)]
		h.turn++
		if w.queued == 0 || w.parked {
			continue
		}
		req, err := d.nextOfCrawl(h, w, now)
		if req != nil || err != nil {
			return req, err
		}
	}
	if d.renderLine.held {
		h.notBefore = d.renderLine.slot(now)
		d.hosts.markDirty(h)
	}
	return nil, nil
}

// hostMayGo reports whether a host may be sent a request now. It fails the queued URLs of an
// abandoned host.
func (d *Dispatcher) hostMayGo(h *host, now int64) (bool, error) {
	due, err := d.schedule.nextDueTime(h, now)
	if err != nil || due == 0 {
		d.hosts.markDirty(h) // its index entry is out of date
		return false, err
	}
	if due > now || h.grouped != (h.line != "") { // differs from the index, e.g. outside the host's hours
		d.hosts.markDirty(h)
	}
	if due > now {
		return false, nil
	}
	if strict, err := d.hosts.rulesOf(h); err != nil || d.schedule.isHostAbandoned(h, strict, now) {
		return false, errors.Join(err, d.visits.failQueued(h, now))
	}
	if h.grouped {
		return d.schedule.goes(h, now)
	}
	return true, nil
}

// nextOfCrawl takes a crawl's first request for a host.
func (d *Dispatcher) nextOfCrawl(h *host, w *hostQueue, now int64) (*Request, error) {
	rules, err := d.crawls.rules(w.crawl, 0)
	if err != nil || !d.crawlMayGo(h, w, rules, now) {
		return nil, err
	}
	pace := rules.paceOf(h.hostname())
	had, err := d.hosts.pages(h, w.crawl, rules)
	if err != nil {
		return nil, err
	}
	for range maxDiscard {
		r, id, err := d.queues.head(h, w)
		if err != nil || r == nil {
			return nil, err
		}
		reason := d.scope.trapAtDispatch(r, id, rules)
		if more := pace.maxPages - had.pages; pace.maxPages > 0 && reason == "" && !r.Fetched {
			switch {
			case more <= 0:
				reason = frontierapi.ReasonHostPages
			case more <= int64(had.inFlight): // in-flight requests may bring the last allowed pages
				return nil, nil
			}
		}
		if reason == "" && rules.mayRender(r.URL) && !d.renderLine.takes() {
			return nil, nil
		}
		d.queues.drop(r, id, h)
		if reason == "" {
			r.Sent++
			r.sentInRun()
			r.GateTried = r.Gate
			sentTotal.Inc()
			return d.requests.launch(r, id, urlSent, h, now)
		}
		d.urls.setState(r, id, urlExcluded, reason, now)
	}
	return nil, nil
}

// crawlMayGo reports whether a crawl may send a request to a host that is due.
func (d *Dispatcher) crawlMayGo(h *host, w *hostQueue, rules *Rules, now int64) bool {
	pace := rules.paceOf(h.hostname())
	switch c := d.crawls.get(w.crawl); {
	case pace.state != crawlspec.Running, limited(rules) && c.quota.spent(c, rules, d.time.wall(now)):
		d.hosts.park(h, w)
		return false
	case limited(rules) && c.quota.short(c, rules):
		return false
	}
	wait := d.requests.pacer.wait(h, rules)
	if wait > 0 {
		h.notBefore = now + int64(wait)
		d.hosts.markDirty(h)
	}
	return wait <= 0
}
