package state

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"seine/internal/base/weburl"
	"seine/internal/schedule/politeness"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/frontier/table"
)

// maxAwakeBytes bounds the names in an answer.
const maxAwakeBytes = 512 << 10

// Status answers OpStatus.
func (s *Partition) Status(about frontierapi.Query) (frontierapi.PartitionStatus, error) {
	st, err := s.status(about.Crawl)
	if err == nil && about.Due {
		st.Due, err = s.hasDueHost(about.Crawl, s.time.now())
	}
	if err == nil && about.Examples && !st.Removing {
		var state crawlState
		state, err = s.stateOf(about.Crawl)
		st.Examples = &state.Examples
	}
	if err == nil && about.Runs > 0 && !st.Removing {
		st.Runs, err = s.runsOf(about.Crawl, about.Runs)
	}
	if err == nil && about.Drop != "" && !st.Removing {
		st.Dropped, err = s.wouldDrop(about.Crawl, about.Drop)
	}
	if about.Awake {
		st.Awake = s.awake()
	}
	return st, err
}

func (s *Partition) status(crawl string) (frontierapi.PartitionStatus, error) {
	st := frontierapi.PartitionStatus{
		Partition: s.partition, Owner: s.store.ID, Epoch: s.epoch, Positions: s.positions, Next: s.nextHost(), Settling: s.replaying || s.settling(), Replaying: s.replaying,
	}
	if last := s.recentFailures.newest(crawl, 1); len(last) > 0 {
		st.LastFailure = &last[0]
	}
	state, err := s.stateOf(crawl)
	if err != nil {
		return st, err
	}
	st.Counters, st.Again, st.VisitingAll = state.Counters, state.Again, state.Reseed != nil && state.Reseed.All
	if !state.Seeding.Due {
		st.Seeds = state.Seeding.List
	}
	if c := s.crawls[crawl]; c != nil {
		st.Late = c.rules != nil && c.quota.late(c.rules, s.time.clock.Now())
		st.Reviewing = c.working()
		if c.rules != nil {
			st.Unusable, st.Still = c.rules.Unusable, c.rules.Still
		}
	} else {
		st.Reviewing = s.isStale[crawl]
	}
	st.Reviewing = st.Reviewing || s.hasNews() // what that changes is not known yet
	if d := s.specs.Deletion(crawl); d != nil {
		st.Deletion, st.Removing = d.Rev, s.replaying || s.isPendingDeletion(crawl) || s.postponed[crawl] > 0
		if st.Removing {
			st.Counters = frontierapi.Counters{}
		}
	}
	return st, nil
}

// nextHost returns the first host of the due index, nil if one is being served
// or none has work.
func (s *Partition) nextHost() (next *frontierapi.HostStatus) {
	if len(s.ready) > 0 || len(s.inFlight) > 0 {
		return nil
	}
	pre := table.Prefix(s.partition, kindDue)
	from := binary.BigEndian.AppendUint64(pre[:len(pre):len(pre)], uint64(max(s.nextDue, 0)))
	_ = s.scanTimes(pre, from, func(_ []byte, _ int64, rest []byte) (bool, error) {
		name := string(rest)
		if domain, isDomain := strings.CutPrefix(name, lineMark); isDomain {
			name = s.firstInLine(domain)
		}
		st, err := s.hostStatus(name)
		if err == nil && st.Why != "" {
			next = &st
		}
		return false, err
	})
	return next
}

// maxHostsScanned bounds the work of one question.
const maxHostsScanned = 100_000

// Slowest returns the hosts with the longest mean request, of one crawl unless that is empty.
func (s *Partition) Slowest(crawl string, top int) ([]frontierapi.HostStatus, error) {
	var all []frontierapi.HostStatus
	pre := table.Prefix(s.partition, kindHost)
	scanned := 0
	err := s.store.scan(pre, nil, func(key, value []byte) (bool, error) {
		h, err := decodeHost(string(key[len(pre):]), value)
		if err != nil {
			return true, nil // it is made again when it is its turn
		}
		if scanned++; crawl != "" && !h.wants(crawl) {
			return scanned < maxHostsScanned, nil
		}
		st, err := s.describe(h)
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

func (s *Partition) hostStatus(name string) (frontierapi.HostStatus, error) {
	h, err := s.host(name)
	if err != nil {
		return frontierapi.HostStatus{}, err
	}
	return s.describe(h)
}

func (s *Partition) describe(h *host) (frontierapi.HostStatus, error) {
	if live := s.hosts[h.name]; live != nil {
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
	rules, err := s.rulesOf(h)
	if err == nil && rules == nil && len(h.work) > 0 { // nothing is wanted of it now
		r, rerr := s.specs.Rules(h.work[0].crawl, 0) // which wakes no crawl that rests
		if err = rerr; err == nil {
			rules = &r.paceOf(h.hostname()).Rules
		}
	}
	if err != nil {
		return st, fmt.Errorf("describe host %s: %w", h.name, err)
	}
	if rules != nil {
		s.describeWait(&st, h, rules, s.time.now())
	}
	if h.grouped {
		err = s.describeLine(&st, h, s.time.now())
	}
	if parked(h) {
		st.Why = "parked"
	}
	return st, err
}

// maxHostWork bounds how many crawls a HostStatus names.
const maxHostWork = 8

// HostDetail is the status of a host with its last answers.
func (s *Partition) HostDetail(name string) (frontierapi.HostStatus, error) {
	st, err := s.hostStatus(name)
	if live := s.hosts[name]; err == nil && live != nil {
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

func (s *Partition) describeWait(st *frontierapi.HostStatus, h *host, rules *politeness.Rules, now int64) {
	st.DelayMS = h.polite.Delay(rules).Milliseconds()
	st.Failing, st.SlowedMS, st.CrawlDelayMS = h.polite.Failures(), h.polite.Slowed().Milliseconds(), h.polite.CrawlDelay().Milliseconds()
	st.NextMS = s.time.wallMS(max(s.time.earliest(&h.polite, rules, now), h.notBefore))
	st.Why = string(s.time.phase(&h.polite, rules, now))
	if h.polite.Abandoned(rules) {
		st.Why = "given_up"
	}
}

// describeLine adds what the host's domain makes it wait for.
func (s *Partition) describeLine(st *frontierapi.HostStatus, h *host, now int64) error {
	name := weburl.Domain(h.hostname())
	d, err := s.domains[name], error(nil)
	if d == nil {
		d, err = s.readDomain(name)
	}
	if err != nil || h.shared == nil {
		return err
	}
	st.DelayMS = max(st.DelayMS, d.polite.Delay(h.shared).Milliseconds())
	st.NextMS = max(st.NextMS, s.time.wallMS(s.time.earliest(&d.polite, h.shared, now)))
	if st.Why == "" {
		st.Why = string(s.time.phase(&d.polite, h.shared, now))
	}
	return nil
}

// Explain answers OpExplain: what became of a URL, and how it would be judged now.
func (s *Partition) Explain(crawl, url string) (frontierapi.Explanation, error) {
	rules, err := s.specs.Rules(crawl, 0) // which wakes no crawl that rests
	if err != nil {
		return frontierapi.Explanation{URL: url}, err
	}
	url = rules.normalize.Normalize(url)
	id := urlID{crawl, messages.HashURL(url)}
	r, err := s.record(id)
	if err != nil {
		return frontierapi.Explanation{URL: url}, err
	}
	now, err := s.ruleDecision(crawl, r, url, rules)
	if err != nil || r == nil {
		return frontierapi.Explanation{URL: url, Behind: s.replaying, Now: now}, err
	}
	e := frontierapi.Explanation{
		Behind: s.replaying, Now: now, Redirects: r.Redirects,
		Known: true, URL: r.URL, Visit: r.visit(id.hash), State: r.State.String(), Reason: r.Reason,
		Class: r.Class, Status: r.Status, Priority: int(r.Priority), Depth: r.Depth, Referrer: r.Referrer, Seed: r.Seed,
		Sent: r.Sent, Failures: r.Failures, ChangedMS: r.Changed,
	}
	if e.Metadata, e.Inherit, err = s.metadataOf(r, id); err != nil {
		return e, err
	}
	if r.Due != 0 && r.State != Parsing {
		e.NextMS = s.time.wallMS(r.Due)
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
	if req := s.inFlight[id]; req != nil {
		e.FetchSeq = req.FetchSeq
	}
	h, err := s.hostStatus(weburl.Host(r.URL))
	e.Host = &h
	return e, err
}

// ruleDecision judges a URL by the spec as it is now; r is nil for one that is not known.
func (s *Partition) ruleDecision(crawl string, r *urlRecord, url string, rules *Rules) (frontierapi.Verdict, error) {
	state, err := s.stateOf(crawl)
	if err != nil {
		return frontierapi.Verdict{}, err
	}
	v := frontierapi.Verdict{Rev: rules.Rev, Unknown: state.Known() == 0}
	if r == nil {
		r = &urlRecord{URL: url}
	}
	opened := true
	if !v.Unknown {
		if opened, err = s.inScope(crawl, r, rules); err != nil {
			return v, err
		}
	}
	if v.Reason = rules.exclusionReason(r, opened, s.time.clock.Now()); v.Reason == "" && r.State == Excluded && rules.stands(r) {
		v.Reason, v.Stands = r.Reason, true
	}
	if v.Reason == frontierapi.ReasonExclude {
		i := slices.IndexFunc(rules.exclude, func(re *regexp.Regexp) bool { return re.MatchString(url) })
		v.Rule = rules.Exclude[i]
	}
	return v, nil
}
