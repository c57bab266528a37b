package state

import (
	"bytes"
	"cmp"
	"math"
	"strings"

	"seine/internal/frontier/table"
	"seine/internal/schedule/politeness"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// visits takes a URL from its queue to the end of its visit, and plans the next.
type visits struct {
	*core
}

// admit queues a URL, or excludes it with the reason.
func (v *visits) admit(r *urlRecord, id urlID, rules *Rules, now int64) error {
	reason, err := v.scope.exclusion(id.crawl, r, rules, v.time.wall(now))
	if err != nil {
		return err
	}
	r.Priority = rules.priority(r.URL, r.Own)
	if reason == "" && r.unjudged() {
		if reason, err = v.scope.trapReason(r, id, rules); err != nil {
			return err
		}
	}
	if reason != "" {
		v.urls.setState(r, id, urlExcluded, reason, now)
		return nil
	}
	h, err := v.hosts.hostOf(r.URL)
	if err != nil {
		return err
	}
	if limit := rules.paceOf(h.hostname()).maxPages; limit > 0 && !r.Fetched {
		had, err := v.hosts.pages(h, id.crawl, rules)
		if err != nil {
			return err
		}
		if had.pages >= limit {
			v.urls.setState(r, id, urlExcluded, frontierapi.ReasonHostPages, now)
			return nil
		}
	}
	return v.queue(r, id, h, now)
}

// queue puts a URL into the queue of its host.
func (v *visits) queue(r *urlRecord, id urlID, h *host, now int64) error {
	v.urls.setState(r, id, urlQueued, r.leftOut(), now)
	v.queues.push(r, id, h)
	return v.schedule.readyIfDue(h, now)
}

// requeueDue moves URLs whose wait is over back into their queues, for another attempt or for their
// next visit.
func (v *visits) requeueDue(now int64) error {
	if v.urls.nextRetry > now {
		return nil
	}
	from, n := v.urls.nextRetry, 0
	v.urls.nextRetry = math.MaxInt64
	return v.scanTimes(table.Prefix(v.partition, kindRetry), from, func(key []byte, at int64, rest []byte) (bool, error) {
		if at > now || n >= maxDue {
			v.urls.nextRetry = min(v.urls.nextRetry, at)
			return false, nil
		}
		id, _ := idAtEnd(rest)
		r, err := v.urls.record(id)
		switch {
		case err != nil:
			return false, err
		case r != nil && r.Has(key):
			if r.Due == at { // otherwise it was moved in this turn
				n++
				return true, v.wakeUp(r, id, now)
			}
		case v.crawls.removals[id.crawl] != nil:
			v.tx.Delete(bytes.Clone(key))
		default:
			v.stray(key)
		}
		return true, nil
	})
}

// wakeUp queues a URL whose time has come.
func (v *visits) wakeUp(r *urlRecord, id urlID, now int64) error {
	rules, err := v.crawls.rules(id.crawl, 0)
	if err != nil {
		return err
	}
	switch {
	case r.State == Waiting:
		r.Due = 0
		return v.admit(r, id, rules, now)
	case r.State.ended():
		due := r.Due
		if v.replan(r, id, rules, now); r.Due != due {
			return nil // the rules have changed, and moved or cancelled the visit
		}
		return v.visitAgain(r, id, true, v.era(), rules, now)
	}
	return nil
}

// revisit queues a URL for another visit, unless a rule excludes it now.
func (v *visits) revisit(r *urlRecord, id urlID, rules *Rules, now int64) error {
	return v.visitAgain(r, id, false, v.era(), rules, now)
}

// visitAgain is revisit for a run, or with recrawl for recrawl rules. A visit that begins by itself
// belongs to the present era; one that a message begins belongs to the message's. So another owner
// that applies the message again, perhaps after a restore, begins the same visit.
func (v *visits) visitAgain(r *urlRecord, id urlID, recrawl bool, era uint64, rules *Rules, now int64) error {
	v.urls.unplan(r, id)
	if (r.State == Done || r.State == Failed) && rules.isCancelledFor(r.URL) { // its last outcome stays
		v.tx.save(id, r)
		return nil
	}
	r.nextRound(era)
	r.Recrawl = recrawl
	return v.admit(r, id, rules, now)
}

// parsed ends the visit whose page was parsed. If the result has not arrived yet, the visit ends
// when it does.
func (v *visits) parsed(m *messages.Candidates, now int64) error {
	id := urlID{m.Crawl, m.Ends.URL}
	r, err := v.urls.record(id)
	if err != nil || r == nil || m.Ends.Round < r.Round || r.Parsed >= m.Ends.Round {
		return err
	}
	v.runs.countRecords(r, id, m, now)
	if r.Parsed == 0 && m.ParseError == "" {
		v.crawls.get(m.Crawl).shapes.Fetched(r.URL, m.Content)
	}
	r.Parsed, r.Content, r.Warned = m.Ends.Round, m.Content, m.ParseError == "" && m.Warning != ""
	r.Recorded = r.Recorded || len(m.Records) > 0
	if m.ParseError == "" {
		r.LinkRun = max(r.LinkRun, m.Run)
		if m.PageRound == m.Ends.Round {
			r.PageRound, r.PageRev = m.PageRound, m.Rev
		}
	}
	told := cmp.Or(m.ParseError, m.Warning)
	if told == "" && m.LeftOut != "" {
		told = leftOutMark + m.LeftOut
	}
	v.tx.save(id, r)
	switch {
	case r.State == Parsing && r.Round == r.Parsed:
		rules, err := v.crawls.rules(m.Crawl, m.Rev)
		if err != nil {
			return err
		}
		return v.finish(r, id, told, rules, now)
	case !r.State.ended():
		r.Reason = told
	}
	return nil
}

// finish ends a visit with a response. told is the parser's report on the page: why it could not be
// parsed; with Warned, which part could not be read; or, after leftOutMark, why it has no record.
func (v *visits) finish(r *urlRecord, id urlID, told string, rules *Rules, now int64) error {
	r.Warned = r.Warned && told != ""
	switch {
	case r.Warned:
		v.crawls.get(id.crawl).Warnings++
	case strings.HasPrefix(told, leftOutMark):
		told = messages.Clip(told)
	case told != "":
		return v.fail(r, id, told, rules, now)
	}
	return v.end(r, id, urlDone, told, rules, now)
}

// fail ends a visit as failed.
func (v *visits) fail(r *urlRecord, id urlID, reason string, rules *Rules, now int64) error {
	return v.end(r, id, urlFailed, messages.Clip(reason), rules, now)
}

// reasonGivenUp is the reason of URLs that fail because their host was abandoned.
const reasonGivenUp = frontierapi.HostGivenUp + ": it failed too often in a row"

// giveUp ends a visit whose host is abandoned. The visit counts for its run though nothing was
// sent: otherwise the URL would be queued repeatedly until the host's next probe.
func (v *visits) giveUp(r *urlRecord, id urlID, rules *Rules, now int64) error {
	r.sentInRun()
	return v.fail(r, id, reasonGivenUp, rules, now)
}

// failQueued fails the URLs queued for an abandoned host.
func (v *visits) failQueued(h *host, now int64) error {
	for _, w := range h.work {
		if w.parked {
			continue
		}
		rules, err := v.crawls.rules(w.crawl, 0)
		if err != nil {
			return err
		}
		err = v.queues.discard(h, w, func(r *urlRecord, id urlID) error { return v.giveUp(r, id, rules, now) })
		if err != nil {
			return err
		}
	}
	return nil
}

// end sets the final state of a URL's visit, and plans the next visit if there is to be one,
// perhaps at once.
func (v *visits) end(r *urlRecord, id urlID, event urlEvent, reason string, rules *Rules, now int64) error {
	v.urls.setState(r, id, event, reason, now)
	r.Due = 0
	if r.againDue() {
		return v.revisit(r, id, rules, now)
	}
	v.replan(r, id, rules, now)
	return nil
}

// againDue reports whether a URL whose visit has ended is to be visited again at once: a later run
// of the crawl has found it meanwhile, or redirects have led back to it.
func (r *urlRecord) againDue() bool { return r.Run > r.SentRun || r.gateDue() }

// applyOutcome applies the effect of the result's class to the URL (effects).
func (v *visits) applyOutcome(req *Request, res *messages.Result, event politeness.Event, rules *Rules, now int64) error {
	r, id := req.urlRecord, req.id
	if res.GoneRecord {
		r.toldGone()
	}
	e := effects[res.Class]
	switch {
	case e.url == awaitParser:
		r.learn(res, digestOf(res), rules)
		if r.Parsed >= r.Round {
			return v.finish(r, id, r.Reason, rules, now)
		}
		r.Due = now
		v.urls.setState(r, id, urlFetched, "", now)
	case e.url == endVisit:
		r.learn(res, 0, rules)
		told := ""
		if res.Class == messages.NotModified {
			told = r.leftOut()
		}
		return v.finish(r, id, told, rules, now)
	case e.url == excludeURL && e.host == politeness.Good: // the next visit may find a page
		r.learn(res, 0, rules)
		return v.end(r, id, urlExcluded, e.reason, rules, now)
	case e.url == excludeURL:
		v.urls.setState(r, id, urlExcluded, e.reason, now)
	case e.url == requeueURL && (res.Class != messages.RobotsFetched || r.Sent-r.Failures <= maxRobotsTurns):
		return v.admit(r, id, rules, now) // admit checks whether the crawl is still cancelled
	case event == politeness.GaveUp:
		return v.giveUp(r, id, rules, now)
	case rules.retryable(res):
		if event != politeness.ProbeFailed { // a failed probe is the host's failure, not the URL's
			r.Failures++
		}
		return v.retry(req, res, rules, now)
	default:
		r.learn(res, 0, rules)
		return v.fail(r, id, reasonOf(res), rules, now)
	}
	return nil
}

// maxRobotsTurns is how often a visit may be requeued for a fetch of robots.txt before that counts
// as a failure: the file is being forgotten at once.
const maxRobotsTurns = 5

func reasonOf(res *messages.Result) string {
	if res.Error != "" {
		return messages.Clip(string(res.Class) + ": " + res.Error)
	}
	return string(res.Class)
}

// toldGone records that a record says that the page is gone. If the page returns, it must be
// fetched completely: its records are needed again.
func (r *urlRecord) toldGone() {
	r.Recorded, r.ETag, r.LastModified = false, "", ""
}
