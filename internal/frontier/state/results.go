package state

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"log/slog"
	"time"

	"seine/internal/base/tally"
	"seine/internal/schedule/politeness"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// takeResult applies a message of RESULTS.
func (rq *Requests) takeResult(res *messages.Result, rules *Rules, now int64) (err error) {
	id := urlID{res.Crawl, res.Visit.URL}
	known := rq.urls.inFlight[id]
	overtaken := known != nil && known.Round == res.Visit.Round && known.Sent != res.Attempt
	req := known
	if req == nil || req.Round < res.Visit.Round || req.Round == res.Visit.Round && req.Sent < res.Attempt {
		final := !rules.retryable(res)
		if req, err = rq.adopt(id, res.Visit.Round, res.Attempt, res.Run, final, now); err != nil || req == nil {
			return err
		}
	}
	switch {
	case req.Round != res.Visit.Round:
		return nil
	case res.Attempt != req.Sent && rules.retryable(res):
		return nil // an abandoned attempt; the one in flight decides
	}
	pace, err := rq.hosts.rulesOf(req.host) // rules of all crawls that want the host, including this one
	if err != nil {
		return err
	}
	resultsTotal.WithLabelValues(string(res.Class)).Inc()
	rq.recentFailures.add(res)
	rq.removeInFlight(req)
	event, err := rq.recordOutcome(req, res, rules, pace, now)
	if err != nil {
		return err
	}
	if overtaken { // a fetcher may have the other attempt, whose result will be ignored
		if err := rq.pacer.abandon(known.host, known.ip, known.id, known.Sent, rules, now); err != nil {
			return err
		}
	}
	if err := rq.visits.applyOutcome(req, res, event, rules, now); err != nil {
		return err
	}
	rq.logFailure(req, res)
	return rq.schedule.readyIfDue(req.host, now)
}

// adopt takes over a request that a former owner of the partition sent after this owner's initial
// state was saved. It returns nil if the request is not newer than the known one, unless its result
// is final: the page of an abandoned attempt is valid, and its URL needs no other attempt.
func (rq *Requests) adopt(id urlID, round uint64, sent int, run int64, final bool, now int64) (*Request, error) {
	r, err := rq.urls.record(id)
	if err != nil || r == nil {
		return nil, err
	}
	switch {
	case round < r.Round, round == r.Round && r.answered() && !r.failedBefore(sent):
		return nil, nil
	case round == r.Round && sent <= r.Sent && !final:
		return nil, nil
	}
	h, err := rq.hosts.hostOf(r.URL)
	if err != nil {
		return nil, err
	}
	switch {
	case rq.urls.inFlight[id] != nil:
		rq.removeInFlight(rq.urls.inFlight[id])
	case r.State == Queued:
		rq.queues.drop(r, id, h)
	}
	was, recrawl := r.recrawling(), r.recrawlIn(round, run)
	if r.State.ended() {
		rq.urls.unplan(r, id)
	}
	if round > r.Round {
		if r.State == Parsing { // its page may be lost, and fetched again by that visit
			r.forgetPage()
		}
		r.Sent, r.Failures, r.SentRun = 0, 0, run
	}
	r.Round, r.Sent, r.SentRun, r.Recrawl = round, max(sent, r.Sent), max(run, r.SentRun), recrawl // a later attempt may belong to a later run
	rq.urls.countRecrawling(id, r.recrawling()-was)
	return rq.launch(r, id, urlAdopted, h, now)
}

// adoptForeign takes over a request that is in FETCH. A request may be unwanted: its crawl was
// deleted, or its round or attempt is not the known one. A fetcher may have it all the same, and
// its result will be ignored. So its host is not sent other requests meanwhile.
func (rq *Requests) adoptForeign(wire *messages.Request, now int64) error {
	rules, err := rq.crawls.rules(wire.Crawl, 0)
	if err != nil {
		return err
	}
	id := urlID{wire.Crawl, wire.Visit.URL}
	if !rules.Deleted(wire.Rev) {
		if req, err := rq.adopt(id, wire.Visit.Round, wire.Attempt, wire.Run, false, now); err != nil || req != nil {
			return err
		}
		r, err := rq.urls.record(id)
		if err != nil || r != nil && r.Round == wire.Visit.Round && r.Sent == wire.Attempt { // it is in flight, or its result is known
			return err
		}
	}
	h, err := rq.hosts.hostOf(wire.URL)
	if err != nil {
		return err
	}
	return rq.pacer.abandon(h, "", id, wire.Attempt, rules, now)
}

// recordOutcome applies a result to its host and its crawl's counters.
func (rq *Requests) recordOutcome(req *Request, res *messages.Result, rules *Rules, pace *politeness.Rules, now int64) (politeness.Event, error) {
	h, c := req.host, rq.crawls.get(req.id.crawl)
	h.finished(res)
	out := outcome(res)
	if out.Kind == politeness.HostFailure && req.Failures > 0 && out.RetryAfter == 0 && !h.polite.Open(pace) {
		out.Kind = politeness.Neutral // a repeated failure of a URL says nothing new about its host
	}
	event, err := rq.pacer.end(h, req.ip, req.id, req.Sent, out, pace, now)
	if err != nil {
		return event, err
	}
	rq.logHostEvent(event, h.name, req.id.crawl)
	if rules.GroupBy == crawlspec.GroupByIP && res.IP != "" {
		h.ip = res.IP
	}

	rq.runs.countResult(req, res, now)
	tally.Add(&c.Attempts, res.Class, 1)
	if res.Detail == messages.DetailLogin {
		c.FailedLogins++
	}
	c.BytesWire += res.BytesWire
	c.BytesBody += res.BytesBody
	c.dirty = true
	if res.Class == messages.OK {
		c.Pages++
		if !req.Fetched {
			req.Fetched = true
			h.of(req.id.crawl).pages++
			h.domain.of(req.id.crawl).pages++
		}
	}
	req.urlRecord.Status, req.urlRecord.Class = res.Status, res.Class
	took := time.Duration(res.Timings.Total).Milliseconds()
	req.History = appendLast(req.History, attempt{At: rq.time.wallMS(now), Class: res.Class, Status: res.Status, Took: took}, maxHistory)
	return event, nil
}

// logHostEvent logs that a host fails, is abandoned, or answers again. These are not warnings: the
// frontier handles them.
func (rq *Requests) logHostEvent(event politeness.Event, host, crawl string) {
	about := []any{"crawl", crawl, "host", host}
	switch event {
	case politeness.Opened:
		rq.log.Info("host fails; pausing its requests", about...)
	case politeness.GaveUp:
		rq.log.Info("host is abandoned", about...)
	case politeness.Closed:
		rq.log.Info("host responds again", about...)
	default: // other events are frequent
	}
}

// logFailure logs a failed request and the next step. Faults of a site are not warnings.
func (rq *Requests) logFailure(req *Request, res *messages.Result) {
	if effects[res.Class].quiet || !rq.log.Enabled(context.Background(), slog.LevelInfo) {
		return
	}
	r := req.urlRecord
	about := []any{
		"crawl", req.id.crawl, "url", r.URL, "visit", res.Visit, "attempt", res.Attempt, "class", res.Class, "status", res.Status, "error", res.Error,
	}
	switch r.State {
	case Waiting:
		about = append(about, "next", "retry", "at", time.UnixMilli(rq.time.wallMS(r.Due)).UTC().Format(time.RFC3339))
	case Failed:
		about = append(about, "next", "abandon")
	case Excluded:
		about = append(about, "next", "exclude", "reason", r.Reason)
	default: // it will be visited again
		about = append(about, "next", r.State.String())
	}
	rq.log.Info("request failed", about...)
}

func digestOf(res *messages.Result) uint64 {
	var b [8]byte
	if n, err := hex.Decode(b[:], []byte(res.Digest[:min(16, len(res.Digest))])); err != nil || n < len(b) {
		return 0
	}
	return binary.BigEndian.Uint64(b[:])
}

// digestText encodes the start of a digest in the form of a result.
func digestText(digest uint64) string {
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, digest))
}
