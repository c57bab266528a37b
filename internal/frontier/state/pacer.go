package state

import (
	"encoding/binary"
	"time"

	"seine/internal/schedule/politeness"
	"seine/pkg/crawlspec"
)

// pacer counts and delays requests to a host, to its registrable domain and to its address. It
// tracks all three for every request, whatever the crawl groups by, so that a crawl may change
// group_by at any time. schedule computes the next request from the state of the host and the
// domain; wait adds the address.
type pacer struct {
	*base
	hosts     *hosts
	addresses *IPLimiter
	delays    hostDelays
}

// add counts a request as in flight.
func (p *pacer) add(req *Request) error {
	d, err := p.hosts.domainOf(req.host)
	if err != nil {
		return err
	}
	d.inFlight++
	d.of(req.id.crawl).inFlight++
	p.hosts.markDirty(d)
	req.host.inFlight++
	req.host.of(req.id.crawl).inFlight++
	req.host.rules = nil
	req.ip = req.host.ip
	p.addresses.begin(req.ip)
	return nil
}

// remove counts a request as no longer in flight.
func (p *pacer) remove(req *Request) {
	req.host.inFlight--
	req.host.of(req.id.crawl).inFlight--
	req.host.rules = nil
	p.addresses.end(req.ip)
	d := req.host.domain
	d.inFlight--
	d.of(req.id.crawl).inFlight--
	d.rules = nil // the next host in line is determined again
	p.hosts.markDirty(d)
}

// begin notes that a request to a host begins now.
func (p *pacer) begin(h *host, now int64) {
	if rules, err := p.hosts.rulesOf(h); err == nil && rules != nil {
		p.delays.asked(h.polite.Delay(rules), now)
		h.polite.Begin(rules, p.time.pace(now))
		h.domain.polite.Begin(rules, p.time.pace(now))
	}
	p.hosts.markDirty(h)
}

// end applies the outcome of a request to an address of a host, and returns the event for the host.
func (p *pacer) end(h *host, ip string, id urlID, attempt int, out politeness.Outcome, rules *politeness.Rules, now int64) (politeness.Event, error) {
	d, err := p.hosts.domainOf(h)
	if err != nil {
		return 0, err
	}
	seed := binary.BigEndian.Uint64(id.hash[4:12]) ^ uint64(attempt)
	event := h.polite.End(rules, p.time.pace(now), out, seed)
	out.CrawlDelay = nil // applies to this host only
	d.polite.End(shared(rules), p.time.pace(now), out, seed)
	p.addresses.rest(ip, h.polite.Delay(rules))
	p.hosts.markDirty(h)
	p.hosts.markDirty(d)
	return event, nil
}

// abandon delays the requests that follow one whose end no message will report. It may be in flight
// for as long as a request may take.
func (p *pacer) abandon(h *host, ip string, id urlID, attempt int, rules *Rules, now int64) error {
	strict, err := p.hosts.rulesOf(h)
	if err != nil {
		return err
	}
	if strict == nil { // no crawl wants anything of the host now
		strict = new(politeness.Rules)
	}
	longest := longestRequest(rules)
	p.addresses.rest(ip, longest)
	_, err = p.end(h, ip, id, attempt, politeness.Outcome{Kind: politeness.Abandoned, RetryAfter: longest}, strict, now)
	return err
}

// wait returns how long a due request must still wait for its address, 0 if it may be sent.
func (p *pacer) wait(h *host, rules *Rules) time.Duration {
	if rules.GroupBy != crawlspec.GroupByIP || h.ip == "" {
		return 0
	}
	return p.addresses.slot(h.ip, h.polite.Delay(&rules.paceOf(h.hostname()).Rules))
}
