package frontier

import (
	"context"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"seine/internal/base/jsontext"
	"seine/internal/base/weburl"
	"seine/internal/schedule/politeness"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// maxAwakeBytes bounds the names in an answer.
const maxAwakeBytes = 512 << 10

// handleQuery replies to a question.
func (p *partitionLoop) handleQuery(q queuedQuery) {
	var about frontierapi.Query
	var reply any
	err := jsontext.Unmarshal(q.Data(), &about)
	if err == nil {
		switch q.op {
		case frontierapi.OpStatus:
			reply, err = p.statusFor(about)
		case frontierapi.OpHosts:
			reply, err = p.slowest(about.Top)
		case frontierapi.OpHost:
			reply, err = p.hostDetail(about.Host)
		case frontierapi.OpSurvey:
			reply, err = p.survey(about)
		case frontierapi.OpFailed:
			reply, err = p.failed(about)
		case frontierapi.OpExplain:
			reply, err = p.explain(about.Crawl, about.URL)
		case messages.OpClaim:
			reply, err = p.claim(q.Data(), q.Headers().Get(messages.HeaderClaimant))
		}
	}
	if err := respond(q.Request, reply, err); err != nil {
		p.log.Debug("cannot answer", "question", q.op, "error", err)
	}
}

// claim answers a fetcher that was given a request again. Only when every
// result in the stream has been applied is it certain that there is none.
func (p *partitionLoop) claim(payload []byte, asker string) (messages.ClaimReply, error) {
	ask, err := messages.DecodeRequest(payload)
	if err != nil {
		return messages.ClaimReply{}, err
	}
	if p.replaying {
		return messages.ClaimReply{Behind: true}, nil
	}
	req := p.inFlight[urlID{ask.Crawl, ask.Visit.URL}]
	if req == nil || req.Round != ask.Visit.Round || req.Sent != ask.Attempt {
		return messages.ClaimReply{}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	last, err := p.f.bus.LastSequence(ctx, messages.StreamResults, messages.SubjectResults(ask.Crawl, p.partition))
	if err != nil || last > p.positions[messages.StreamResults].Sequence {
		return messages.ClaimReply{Behind: true}, nil
	}
	return req.tryClaim(asker, p.f.now(), messages.ClaimTTL(p.timeout(ask.Crawl))), nil
}

// timeout is how long a request of a crawl may take.
func (p *partitionLoop) timeout(crawl string) time.Duration {
	if c := p.crawls[crawl]; c != nil && c.rules != nil {
		return time.Duration(c.rules.Largest().Timeout)
	}
	return time.Duration(crawlspec.DefaultTimeout)
}

// tryClaim tells one asker at a time that the request is wanted: two may hold it, each
// in the belief that the other is gone.
func (r *request) tryClaim(asker string, now int64, claim time.Duration) messages.ClaimReply {
	if r.asker != "" && r.asker != asker && now < r.asked+int64(claim) {
		return messages.ClaimReply{Behind: true}
	}
	r.asker, r.asked = asker, now
	return messages.ClaimReply{Wanted: true}
}

// statusFor answers OpStatus.
func (p *partitionLoop) statusFor(about frontierapi.Query) (frontierapi.PartitionStatus, error) {
	st, err := p.status(about.Crawl)
	if err == nil && about.Due {
		st.Due, err = p.hasDueHost(about.Crawl, p.time.now())
	}
	if err == nil && about.Examples && !st.Removing {
		var state crawlState
		state, err = p.stateOf(about.Crawl)
		st.Examples = &state.Examples
	}
	if err == nil && about.Runs > 0 && !st.Removing {
		st.Runs, err = p.runsOf(about.Crawl, about.Runs)
	}
	if about.Awake {
		st.Awake = p.awake()
	}
	return st, err
}

func (p *partitionLoop) status(crawl string) (frontierapi.PartitionStatus, error) {
	st := frontierapi.PartitionStatus{
		Partition: p.partition, Owner: p.store.ID, Epoch: p.epoch, Positions: p.positions, Next: p.nextHost(), Settling: p.replaying || p.settling(),
	}
	state, err := p.stateOf(crawl)
	if err != nil {
		return st, err
	}
	st.Counters, st.Again, st.VisitingAll = state.Counters, state.Again, state.Reseed != nil && state.Reseed.All
	if !state.Seeding.Due {
		st.Seeds = state.Seeding.List
	}
	if c := p.crawls[crawl]; c != nil {
		st.Late = c.rules != nil && c.quota.late(c.rules, p.f.now())
		st.Reviewing = c.working()
		if c.rules != nil {
			st.Unusable, st.Still = c.rules.Unusable, c.rules.Still
		}
	} else {
		st.Reviewing = p.isStale[crawl]
	}
	st.Reviewing = st.Reviewing || p.hasNews() // what that changes is not known yet
	if d := p.specs.deletion(crawl); d != nil {
		st.Deletion, st.Removing = d.Rev, p.replaying || p.isDoomed(crawl) || p.postponed[crawl] > 0
		if st.Removing {
			st.Counters = frontierapi.Counters{}
		}
	}
	return st, nil
}

// nextHost returns the first host of the due index, nil if one is being served
// or none has work.
func (p *partitionLoop) nextHost() (next *frontierapi.HostStatus) {
	if len(p.ready) > 0 || len(p.inFlight) > 0 {
		return nil
	}
	pre := prefix(p.partition, kindDue)
	from := binary.BigEndian.AppendUint64(pre[:len(pre):len(pre)], uint64(max(p.nextDue, 0)))
	_ = p.scanTimes(pre, from, func(_ []byte, _ int64, rest []byte) (bool, error) {
		name := string(rest)
		if domain, isDomain := strings.CutPrefix(name, lineMark); isDomain {
			name = p.firstInLine(domain)
		}
		st, err := p.hostStatus(name)
		if err == nil && st.Why != "" {
			next = &st
		}
		return false, err
	})
	return next
}

// maxHostsScanned bounds the work of one question.
const maxHostsScanned = 100_000

// slowest returns the hosts with the longest mean request.
func (p *partitionLoop) slowest(top int) ([]frontierapi.HostStatus, error) {
	var all []frontierapi.HostStatus
	pre := prefix(p.partition, kindHost)
	scanned := 0
	err := p.store.scan(pre, nil, func(key, value []byte) (bool, error) {
		h, err := decodeHost(string(key[len(pre):]), value)
		if err != nil {
			return true, nil // it is made anew when it is its turn
		}
		scanned++
		st, err := p.describe(h)
		if err != nil {
			return false, err
		}
		all = append(all, st)
		if len(all) > 4*top+64 {
			all = frontierapi.KeepSlowest(all, top)
		}
		return scanned < maxHostsScanned, nil
	})
	return frontierapi.KeepSlowest(all, top), err
}

func (p *partitionLoop) hostStatus(name string) (frontierapi.HostStatus, error) {
	h, err := p.host(name)
	if err != nil {
		return frontierapi.HostStatus{}, err
	}
	return p.describe(h)
}

func (p *partitionLoop) describe(h *host) (frontierapi.HostStatus, error) {
	if live := p.hosts[h.name]; live != nil {
		h = live
	}
	st := frontierapi.HostStatus{
		Host: h.name, Queued: h.queued(), InFlight: h.inFlight, IP: h.ip,
		Requests: h.stats.Requests, Pages: h.stats.Pages, Errors: h.stats.Errors, Bytes: h.stats.Bytes,
	}
	if st.Requests > 0 {
		st.MeanMS = h.stats.Millis / st.Requests
	}
	for _, w := range h.work {
		if w.queued+w.inFlight > 0 && len(st.Crawls) < maxHostWork {
			st.Crawls = append(st.Crawls, frontierapi.HostWork{Crawl: w.crawl, Queued: w.queued, InFlight: w.inFlight, Parked: w.parked})
		}
	}
	rules, err := p.rulesOf(h)
	if err == nil && rules == nil && len(h.work) > 0 { // nothing is wanted of it now
		r, rerr := p.specs.rules(h.work[0].crawl, 0) // which wakes no crawl that rests
		if err = rerr; err == nil {
			rules = &r.paceOf(h.hostname()).Rules
		}
	}
	if err != nil {
		return st, fmt.Errorf("describe host %s: %w", h.name, err)
	}
	if rules != nil {
		p.describeWait(&st, h, rules, p.time.now())
	}
	if h.grouped {
		err = p.describeLine(&st, h, p.time.now())
	}
	if parked(h) {
		st.Why = "parked"
	}
	return st, err
}

// maxHostWork bounds how many crawls a HostStatus names.
const maxHostWork = 8

// hostDetail is the status of a host with its last answers.
func (p *partitionLoop) hostDetail(name string) (frontierapi.HostStatus, error) {
	st, err := p.hostStatus(name)
	if live := p.hosts[name]; err == nil && live != nil {
		st.Last = live.last.attempts()
	}
	return st, err
}

// parked reports whether all that is queued for a host is parked.
func parked(h *host) bool {
	for _, w := range h.work {
		if w.queued > 0 && !w.parked {
			return false
		}
	}
	return h.queued() > 0
}

func (p *partitionLoop) describeWait(st *frontierapi.HostStatus, h *host, rules *politeness.Rules, now int64) {
	st.DelayMS = h.polite.Delay(rules).Milliseconds()
	st.Failing, st.SlowedMS, st.CrawlDelayMS = h.polite.Failures(), h.polite.Slowed().Milliseconds(), h.polite.CrawlDelay().Milliseconds()
	st.NextMS = p.time.wallMS(max(p.time.earliest(&h.polite, rules, now), h.notBefore))
	st.Why = string(p.time.phase(&h.polite, rules, now))
	if h.polite.Abandoned(rules) {
		st.Why = "given_up"
	}
}

// describeLine adds what the host's domain makes it wait for.
func (p *partitionLoop) describeLine(st *frontierapi.HostStatus, h *host, now int64) error {
	name := weburl.Domain(h.hostname())
	d, err := p.domains[name], error(nil)
	if d == nil {
		d, err = p.readDomain(name)
	}
	if err != nil || h.shared == nil {
		return err
	}
	st.DelayMS = max(st.DelayMS, d.polite.Delay(h.shared).Milliseconds())
	st.NextMS = max(st.NextMS, p.time.wallMS(p.time.earliest(&d.polite, h.shared, now)))
	if st.Why == "" {
		st.Why = string(p.time.phase(&d.polite, h.shared, now))
	}
	return nil
}

func (p *partitionLoop) explain(crawl, url string) (frontierapi.Explanation, error) {
	rules, err := p.specs.rules(crawl, 0) // which wakes no crawl that rests
	if err != nil {
		return frontierapi.Explanation{URL: url}, err
	}
	url = rules.normalize.Normalize(url)
	id := urlID{crawl, messages.HashURL(url)}
	r, err := p.record(id)
	if err != nil {
		return frontierapi.Explanation{URL: url}, err
	}
	now, err := p.ruleDecision(crawl, r, url, rules)
	if err != nil || r == nil {
		return frontierapi.Explanation{URL: url, Behind: p.replaying, Now: now}, err
	}
	e := frontierapi.Explanation{
		Behind: p.replaying, Now: now, Redirects: r.Redirects,
		Known: true, URL: r.URL, Visit: r.visit(id.hash), State: r.State.String(), Reason: r.Reason,
		Class: r.Class, Status: r.Status, Priority: int(r.Priority), Depth: r.Depth, Referrer: r.Referrer, Seed: r.Seed,
		Sent: r.Sent, Failures: r.Failures, ChangedMS: r.Changed,
	}
	if e.Metadata, e.Inherit, err = p.metadataFor(id); err != nil {
		return e, err
	}
	if r.Due != 0 {
		e.NextMS = p.time.wallMS(r.Due)
	}
	if r.Warned {
		e.Reason, e.Warning = "", r.Reason
	}
	if r.leftOut() != "" {
		e.Reason, e.LeftOut = "", strings.TrimPrefix(r.Reason, leftOutMark)
	}
	for _, a := range r.History {
		e.History = append(e.History, frontierapi.Attempt{AtMS: a.At, Class: a.Class, Status: a.Status, TookMS: a.Took})
	}
	if req := p.inFlight[id]; req != nil {
		e.FetchSeq = req.seq
	}
	h, err := p.hostStatus(weburl.Host(r.URL))
	e.Host = &h
	return e, err
}

// ruleDecision judges a URL by the spec as it is now; r is nil for one that is not known.
func (p *partitionLoop) ruleDecision(crawl string, r *urlRecord, url string, rules *rules) (frontierapi.Verdict, error) {
	state, err := p.stateOf(crawl)
	if err != nil {
		return frontierapi.Verdict{}, err
	}
	v := frontierapi.Verdict{Rev: rules.Rev, Unknown: state.Known() == 0}
	if r == nil {
		r = &urlRecord{URL: url}
	}
	opened := true
	if !v.Unknown {
		if opened, err = p.inScope(crawl, r, rules); err != nil {
			return v, err
		}
	}
	if v.Reason = rules.exclusionReason(r, opened, p.f.now()); v.Reason == "" && r.State == Excluded && rules.stands(r) {
		v.Reason, v.Stands = r.Reason, true
	}
	if v.Reason == frontierapi.ReasonExclude {
		i := slices.IndexFunc(rules.exclude, func(re *regexp.Regexp) bool { return re.MatchString(url) })
		v.Rule = rules.Exclude[i]
	}
	return v, nil
}
