package state

import (
	"cmp"
	"time"

	"seine/internal/frontier/table"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Requests manages the requests in flight: those in FETCH or on their way there, until their
// results are applied.
type Requests struct {
	*core
	visits               *visits
	pacer                *pacer
	renders              int   // in-flight requests whose pages may need a browser
	nextInFlightDeadline int64 // no request is checked earlier: see Lost
	recentFailures       recentFailures
}

// Request is a request in flight.
type Request struct {
	*urlRecord
	id       urlID
	host     *host
	deadline int64  // when to check its fate
	missing  bool   // it was not in FETCH at the last check
	unsent   bool   // to be published, perhaps again
	renders  bool   // its page may need a browser
	ip       string // address of the host when it was sent, for the IPLimiter
	claimant string // the last claimant it was granted to
	claimed  int64  // when it was granted, Unix ns
}

// inFlightTimeout is how long a request may be in flight before the frontier checks it. The check
// is cheap, and changes nothing while the request is in FETCH.
const inFlightTimeout = int64(60 * time.Second)

func (rq *Requests) loadInFlight() error {
	pre := table.Prefix(rq.partition, kindInFlight)
	return rq.store.scan(pre, nil, func(key, _ []byte) (bool, error) {
		id, _ := idAtEnd(key[len(pre):])
		r, err := rq.urls.record(id)
		if err != nil {
			return false, err
		}
		if r == nil || !r.Has(key) {
			rq.stray(key)
			return true, nil
		}
		h, err := rq.hosts.hostOf(r.URL)
		if err != nil {
			return false, err
		}
		req := &Request{urlRecord: r, id: id, host: h, renders: rq.mayRender(id.crawl, r.URL)}
		return true, rq.addInFlight(req)
	})
}

// checkInFlight compares the in-flight requests with the counters of the crawls.
func (rq *Requests) checkInFlight() error {
	n := make(map[string]int64)
	for id := range rq.urls.inFlight {
		n[id.crawl]++
	}
	for name, c := range rq.crawls.active {
		if c.InFlight != n[name] {
			rq.reportRepair(repairInFlight, "in-flight requests differ from the counter of a crawl", "crawl", name, "counted", c.InFlight, "in_flight", n[name])
			rq.audit(name)
		}
	}
	return nil
}

// mayRender reports whether a page may need a browser. It returns false if the spec is unavailable.
func (rq *Requests) mayRender(crawl, url string) bool {
	rules, err := rq.crawls.rules(crawl, 0)
	return err == nil && rules != nil && rules.mayRender(url)
}

// launch puts a URL in flight.
func (rq *Requests) launch(r *urlRecord, id urlID, event urlEvent, h *host, now int64) (*Request, error) {
	r.Due, r.FetchSeq = 0, 0
	rq.urls.setState(r, id, event, r.leftOut(), now)
	req := &Request{urlRecord: r, id: id, host: h, deadline: now + inFlightTimeout, renders: rq.mayRender(id.crawl, r.URL)}
	rq.nextInFlightDeadline = min(rq.nextInFlightDeadline, req.deadline)
	if err := rq.addInFlight(req); err != nil {
		return nil, err
	}
	rq.pacer.begin(h, now)
	return req, nil
}

// addInFlight records a request as in flight.
func (rq *Requests) addInFlight(req *Request) error {
	if err := rq.pacer.add(req); err != nil {
		return err
	}
	rq.urls.inFlight[req.id] = req
	if req.renders {
		rq.renders++
	}
	return nil
}

// removeInFlight records that a request is no longer in flight.
func (rq *Requests) removeInFlight(req *Request) {
	delete(rq.urls.inFlight, req.id)
	if req.renders {
		rq.renders--
	}
	rq.pacer.remove(req)
}

// Message returns the message to publish for a request.
func (rq *Requests) Message(req *Request) (*messages.Request, error) {
	rules, err := rq.crawls.rules(req.id.crawl, 0)
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
		Delay: messages.Millis(delay), Interval: messages.Millis(pace.Interval + time.Millisecond - 1), Epoch: rq.epoch,
		NoResend: req.host.polite.Failing(), Follow: req.GateTried, Sitemap: req.Sitemap, Render: rules.mayRender(req.URL),
	}
	if m.Metadata, m.Inherit, err = rq.urls.metadataOf(req.urlRecord, req.id); err != nil {
		return nil, err
	}
	tells := rules.Gone == crawlspec.WhenGoneRecord
	m.Recorded = req.Recorded
	if rules.Duplicates.Unchanged == crawlspec.UnchangedDrop && req.Digest != 0 && req.Class != messages.Gone && (req.Recorded || !tells) {
		m.Digest = digestText(req.Digest)
	}
	// A run that lacks the links of an unchanged page must fetch the page.
	if req.Digest != 0 && rq.crawls.get(req.id.crawl).knowsLinks(req.urlRecord) { // the response can be compared with a known page
		m.ETag, m.LastModified = req.ETag, req.LastModified
		if !req.linksTaken() {
			m.PageRound = req.PageRound
		}
	}
	return m, nil
}

// MarkSent records the sequence of a request in FETCH. It becomes durable with the next turn that
// changes anything.
func (rq *Requests) MarkSent(wire *messages.Request, seq uint64) {
	id := urlID{wire.Crawl, wire.Visit.URL}
	req := rq.urls.inFlight[id]
	if req == nil || req.Sent != wire.Attempt {
		return
	}
	req.FetchSeq = seq
	rq.tx.save(id, req.urlRecord)
}

// resend abandons a lost request and sends its visit again.
func (rq *Requests) resend(req *Request, now int64) {
	req.Sent++
	req.FetchSeq, req.missing, req.unsent, req.deadline = 0, false, true, now+inFlightTimeout
	rq.tx.save(req.id, req.urlRecord)
}

// Taken returns the number of requests in flight.
func (rq *Requests) Taken() FetchCapacity {
	return FetchCapacity{Requests: len(rq.urls.inFlight), Renders: rq.renders}
}

// longestRequest returns how long a request may be in flight, of the crawl or of a deleted one of
// its name.
func longestRequest(rules *Rules) time.Duration {
	timeout := time.Duration(rules.Largest().Timeout)
	if d := rules.Deletion; d != nil {
		timeout = max(timeout, time.Duration(cmp.Or(d.Timeout, messages.Millis(crawlspec.DefaultTimeout))))
	}
	return messages.ClaimTTL(timeout)
}
