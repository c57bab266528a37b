package state

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"log/slog"
	"strings"
	"time"

	"seine/internal/base/tally"
	"seine/internal/schedule/politeness"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// ApplyResult applies a message of RESULTS. One for a visit that is not under way
// is a repeat, and changes nothing, unless this state is older than the
// request: see adopt. It may have to wait: see postponed.
func (s *Partition) ApplyResult(res *messages.Result, now int64) error {
	rules, err := s.admits(res.Crawl, res.Rev)
	if err != nil || rules == nil {
		return err
	}
	if s.mustWait(res.Crawl, rules) {
		s.postpone(res.Crawl, postponedResult, res.Encode())
		return nil
	}
	return s.takeResult(res, rules, now)
}

// takeResult applies a message of RESULTS that need not wait.
func (s *Partition) takeResult(res *messages.Result, rules *Rules, now int64) (err error) {
	id := urlID{res.Crawl, res.Visit.URL}
	known := s.inFlight[id]
	overtaken := known != nil && known.Round == res.Visit.Round && known.Sent != res.Attempt
	req := known
	if req == nil || req.Round < res.Visit.Round || req.Round == res.Visit.Round && req.Sent < res.Attempt {
		final := !rules.retryable(res)
		if req, err = s.adopt(id, res.Visit.Round, res.Attempt, res.Run, final, now); err != nil || req == nil {
			return err
		}
	}
	switch {
	case req.Round != res.Visit.Round:
		return nil
	case res.Attempt != req.Sent && rules.retryable(res):
		return nil // of an attempt abandoned; the one under way decides
	}
	pace, err := s.rulesOf(req.host) // of all crawls that want it, this one included
	if err != nil {
		return err
	}
	resultsTotal.WithLabelValues(string(res.Class)).Inc()
	s.recentFailures.add(res)
	s.removeInFlight(req)
	event := s.recordOutcome(req, res, rules, pace, now)
	if overtaken { // the other attempt may be with a fetcher, and its result will count for nothing
		if err := s.leaveAlone(known, rules, now); err != nil {
			return err
		}
	}
	s.markDirty(req.host)
	if err := s.applyOutcome(req, res, event, rules, now); err != nil {
		return err
	}
	s.tellFailure(req, res)
	return s.readyIfDue(req.host, now)
}

// adopt takes over a request that a former owner of the partition sent after
// the state that this one began with was saved. It returns nil if the request
// is not newer than what is known, unless its result is final: the page of an
// attempt that was abandoned is a page, and its URL needs no other attempt.
func (s *Partition) adopt(id urlID, round uint64, sent int, run int64, final bool, now int64) (*Request, error) {
	r, err := s.record(id)
	if err != nil || r == nil {
		return nil, err
	}
	switch {
	case round < r.Round, round == r.Round && r.answered() && !r.failedBefore(sent):
		return nil, nil
	case round == r.Round && sent <= r.Sent && !final:
		return nil, nil
	}
	h, err := s.hostOf(r.URL)
	if err != nil {
		return nil, err
	}
	switch {
	case s.inFlight[id] != nil:
		s.removeInFlight(s.inFlight[id])
	case r.State == Queued:
		s.drop(r, id, h)
	}
	was, recrawl := r.recrawling(), r.recrawlIn(round, run)
	if r.State.ended() {
		s.unplan(r, id)
	}
	if round > r.Round {
		if r.State == Parsing { // its page may be lost, and be fetched again by that visit
			r.forgetPage()
		}
		r.Sent, r.Failures, r.SentRun = 0, 0, run
	}
	r.Round, r.Sent, r.SentRun, r.Recrawl = round, max(sent, r.Sent), max(run, r.SentRun), recrawl // a later attempt may be of a later run
	s.countRecrawling(id, r.recrawling()-was)
	return s.launch(r, id, h, now)
}

// adoptForeign takes over a request that is in FETCH. One that is not wanted, as it is
// for a crawl that was deleted, or of another round or attempt than what is known, may be
// with a fetcher all the same, and its result will count for nothing: its host is left
// alone meanwhile.
func (s *Partition) adoptForeign(wire *messages.Request, now int64) error {
	rules, err := s.rules(wire.Crawl, 0)
	if err != nil {
		return err
	}
	id := urlID{wire.Crawl, wire.Visit.URL}
	if !rules.Deleted(wire.Rev) || s.isPendingDeletion(wire.Crawl) {
		if req, err := s.adopt(id, wire.Visit.Round, wire.Attempt, wire.Run, false, now); err != nil || req != nil {
			return err
		}
		r, err := s.record(id)
		if err != nil || r != nil && r.Round == wire.Visit.Round && r.Sent == wire.Attempt { // it is in progress, or its result is known
			return err
		}
	}
	h, err := s.hostOf(wire.URL)
	if err != nil {
		return err
	}
	return s.restAfter(h, id, wire.Attempt, rules, now)
}

// recordOutcome takes note of a result in the books of its host and its crawl.
func (s *Partition) recordOutcome(req *Request, res *messages.Result, rules *Rules, pace *politeness.Rules, now int64) politeness.Event {
	h, c := req.host, s.crawl(req.id.crawl)
	h.finished(res)
	seed := binary.BigEndian.Uint64(req.id.hash[4:12]) ^ uint64(req.Sent)
	out := outcome(res)
	if out.Kind == politeness.HostFailure && req.Failures > 0 && out.RetryAfter == 0 && !h.polite.Open(pace) {
		out.Kind = politeness.Neutral // a URL that fails again says nothing new of its host
	}
	event := h.polite.End(pace, s.time.pace(now), out, seed)
	s.logHostEvent(event, h.name, req.id.crawl)
	out.CrawlDelay = nil // of this host alone
	h.domain.polite.End(shared(pace), s.time.pace(now), out, seed)
	s.addresses.rest(req.ip, h.polite.Delay(pace))
	if rules.GroupBy == crawlspec.GroupByIP && res.IP != "" {
		h.ip = res.IP
	}

	s.countResult(req, res, now)
	tally.Add(&c.Attempts, res.Class, 1)
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
	req.remember(attempt{At: s.time.wallMS(now), Class: res.Class, Status: res.Status, Took: time.Duration(res.Timings.Total).Milliseconds()})
	return event
}

// logHostEvent tells people how a host does. That is no warning: the frontier deals with it.
func (s *Partition) logHostEvent(event politeness.Event, host, crawl string) {
	about := []any{"crawl", crawl, "host", host}
	switch event {
	case politeness.Opened:
		s.log.Info("host fails, resting it", about...)
	case politeness.GaveUp:
		s.log.Info("host is abandoned", about...)
	case politeness.Closed:
		s.log.Info("host answers again", about...)
	default: // what is less goes on all the time
	}
}

// tellFailure tells people of a request that did not end well, and what comes next. What a
// site does wrong is no warning.
func (s *Partition) tellFailure(req *Request, res *messages.Result) {
	if effects[res.Class].quiet || !s.log.Enabled(context.Background(), slog.LevelInfo) {
		return
	}
	r := req.urlRecord
	about := []any{
		"crawl", req.id.crawl, "url", r.URL, "visit", res.Visit, "attempt", res.Attempt, "class", res.Class, "status", res.Status, "error", res.Error,
	}
	switch r.State {
	case Waiting:
		about = append(about, "next", "retry", "at", time.UnixMilli(s.time.wallMS(r.Due)).UTC().Format(time.RFC3339))
	case Failed:
		about = append(about, "next", "abandon")
	case Excluded:
		about = append(about, "next", "exclude", "reason", r.Reason)
	default: // it is to be visited once more
		about = append(about, "next", r.State.String())
	}
	s.log.Info("request failed", about...)
}

// applyOutcome does to the URL what the class of the result says (effects).
func (s *Partition) applyOutcome(req *Request, res *messages.Result, event politeness.Event, rules *Rules, now int64) error {
	r, id := req.urlRecord, req.id
	if res.GoneRecord {
		r.toldGone()
	}
	e := effects[res.Class]
	switch {
	case e.url == awaitParser:
		r.learn(res, digestOf(res), rules)
		if r.Parsed >= r.Round {
			return s.finish(r, id, r.Reason, rules, now)
		}
		r.Due = now
		s.setState(r, id, Parsing, "", now)
	case e.url == endVisit:
		r.learn(res, 0, rules)
		told := ""
		if res.Class == messages.NotModified {
			told = r.leftOut()
		}
		return s.finish(r, id, told, rules, now)
	case e.url == excludeURL && e.host == politeness.Good: // a page was there, and may be another at the next visit
		r.learn(res, 0, rules)
		return s.end(r, id, Excluded, e.reason, rules, now)
	case e.url == excludeURL:
		s.setState(r, id, Excluded, e.reason, now)
	case e.url == requeueURL && (res.Class != messages.RobotsFetched || r.Sent-r.Failures <= maxRobotsTurns):
		return s.admit(r, id, rules, now) // which knows whether the crawl is cancelled still
	case event == politeness.GaveUp:
		return s.giveUp(r, id, rules, now)
	case rules.retryable(res):
		if event != politeness.ProbeFailed { // a probe in vain is the host's failure, not the URL's
			r.Failures++
		}
		return s.retry(req, res, rules, now)
	default:
		r.learn(res, 0, rules)
		return s.fail(r, id, reasonOf(res), rules, now)
	}
	return nil
}

// toldGone notes that a record says that the page is gone. Should it come back as it was,
// it is to come whole: its records are needed anew.
func (r *urlRecord) toldGone() {
	r.Recorded, r.ETag, r.LastModified = false, "", ""
}

func digestOf(res *messages.Result) uint64 {
	var b [8]byte
	if n, err := hex.Decode(b[:], []byte(res.Digest[:min(16, len(res.Digest))])); err != nil || n < len(b) {
		return 0
	}
	return binary.BigEndian.Uint64(b[:])
}

// digestText is the start of a digest, as a result has it.
func digestText(digest uint64) string {
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, digest))
}

// maxRobotsTurns is how often a visit may give up its turn to robots.txt
// before that counts as a failure: the file is being forgotten at once.
const maxRobotsTurns = 5

func reasonOf(res *messages.Result) string {
	if res.Error != "" {
		return messages.Clip(string(res.Class) + ": " + res.Error)
	}
	return string(res.Class)
}

// parsed ends the visit whose page was parsed. Its result may still be on the
// way: then the visit ends when that comes.
func (s *Partition) parsed(m *messages.Candidates, now int64) error {
	id := urlID{m.Crawl, m.Ends.URL}
	r, err := s.record(id)
	if err != nil || r == nil || m.Ends.Round < r.Round || r.Parsed >= m.Ends.Round {
		return err
	}
	s.countRecords(r, id, m, now)
	if r.Parsed == 0 && m.ParseError == "" {
		s.crawl(m.Crawl).shapes.Fetched(r.URL, m.Content)
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
	s.tx.save(id, r)
	switch {
	case r.State == Parsing && r.Round == r.Parsed:
		rules, err := s.rules(m.Crawl, m.Rev)
		if err != nil {
			return err
		}
		return s.finish(r, id, told, rules, now)
	case !r.State.ended():
		r.Reason = told
	}
	return nil
}

// finish ends a visit that led somewhere. What the parser told of its page is why that
// could not be parsed; of a record with Warned, what of it could not be read; after leftOutMark,
// why no record was made of it.
func (s *Partition) finish(r *urlRecord, id urlID, told string, rules *Rules, now int64) error {
	r.Warned = r.Warned && told != ""
	switch {
	case r.Warned:
		s.crawl(id.crawl).Warnings++
	case strings.HasPrefix(told, leftOutMark):
		told = messages.Clip(told)
	case told != "":
		return s.fail(r, id, told, rules, now)
	}
	return s.end(r, id, Done, told, rules, now)
}

// fail ends a visit that led nowhere.
func (s *Partition) fail(r *urlRecord, id urlID, reason string, rules *Rules, now int64) error {
	return s.end(r, id, Failed, messages.Clip(reason), rules, now)
}

// giveUp ends a visit whose host is taken for dead. The run has had it, though nothing
// was sent: it would be queued again and again until the host's next probe.
func (s *Partition) giveUp(r *urlRecord, id urlID, rules *Rules, now int64) error {
	r.sentInRun()
	return s.fail(r, id, reasonGivenUp, rules, now)
}

// end moves a URL to the end of its visit, and plans the next if there is to be
// one, perhaps at once.
func (s *Partition) end(r *urlRecord, id urlID, to State, reason string, rules *Rules, now int64) error {
	s.setState(r, id, to, reason, now)
	r.Due = 0
	if r.againDue() {
		return s.revisit(r, id, rules, now)
	}
	s.scheduleRecrawl(r, id, rules, now)
	return nil
}

// againDue reports whether a URL whose visit has ended is to be visited again at once:
// a later run of the crawl has found it meanwhile, or redirects have led back to it.
func (r *urlRecord) againDue() bool { return r.Run > r.SentRun || r.gateDue() }
