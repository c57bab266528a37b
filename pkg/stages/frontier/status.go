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
	"seine/pkg/stages"
)

// Questions that the owner of a partition answers, on
// messages.SubjectFrontier, and the one that any frontier answers.
const (
	opStatus  = "status"  // Question.Crawl → PartitionStatus
	opHosts   = "hosts"   // Question.Top → []HostStatus
	opHost    = "host"    // Question.Host → HostStatus
	opExplain = "explain" // Question.Crawl and URL → Explanation
	opSurvey  = "survey"  // Question.Crawl and Top → Survey
	opFailed  = "failed"  // Question.Crawl, Class, After and Top → FailedPage
	opControl = "control" // Control → {"rev": …}
)

// Query is what one may ask a frontier.
type Query struct {
	Crawl string `json:"crawl,omitempty"`
	URL   string `json:"url,omitempty"`
	Host  string `json:"host,omitempty"`
	Top   int    `json:"top,omitempty"`
	Class string `json:"class,omitempty"`
	After string `json:"after,omitempty"`
	// Due asks status whether a host could be asked now, which takes a look at the
	// hosts.
	Due bool `json:"due,omitempty"`
	// Examples asks status for URLs that failed and were excluded.
	Examples bool `json:"examples,omitempty"`
	// Runs asks status for the figures of as many runs, the newest.
	Runs int `json:"runs,omitempty"`
	// Awake asks status, without a crawl, for those in which something is to happen.
	Awake bool `json:"awake,omitempty"`
}

// AwakeCrawls are the crawls of a partition in which something is to happen yet.
type AwakeCrawls struct {
	Names []string `json:"names"`
	// Partial says that there are so many that some are left out.
	Partial bool `json:"partial,omitempty"`
}

// maxAwakeBytes bounds the names in an answer.
const maxAwakeBytes = 512 << 10

// PartitionStatus is how a crawl stands in one partition.
type PartitionStatus struct {
	Partition int                        `json:"partition"`
	Owner     string                     `json:"owner"`
	Epoch     uint64                     `json:"epoch"`
	Positions map[string]stages.Position `json:"positions"`
	Counters  Counters                   `json:"counters"`
	// Late says that the crawl has had its max_duration.
	Late bool `json:"late,omitempty"`
	// Next is the host that is asked next, if all of the partition's must wait.
	Next *HostStatus `json:"next,omitempty"`
	// Due says that a host of the crawl could be asked now, if that was the
	// question.
	Due bool `json:"due,omitempty"`
	// Examples is the answer to Query.Examples, one for each reason.
	Examples *examples `json:"examples,omitempty"`
	// Runs are the answer to Query.Runs, the oldest first.
	Runs []Run `json:"runs,omitempty"`
	// Awake is the answer to Query.Awake.
	Awake *AwakeCrawls `json:"awake,omitempty"`
	// Deletion is the revision of the last deletion of the crawl's name that the
	// partition knows, 0 if it knows none; Removing says that something is left of
	// what was deleted.
	Deletion uint64 `json:"deletion,omitempty"`
	Removing bool   `json:"removing,omitempty"`
	// Again is the last run over everything that the crawl has begun, as its spec names it.
	Again int64 `json:"again,omitempty"`
	// VisitingAll says that it has not come to all URLs yet.
	VisitingAll bool `json:"visiting_all,omitempty"`
	// Seeds tells which list of seeds of a spec the crawl was fed, all of it; 0 is none.
	Seeds uint64 `json:"seeds,omitempty"`
	// Reviewing says that URLs are still being judged by a changed spec, or taken back
	// since a seed opened their host.
	Reviewing bool `json:"reviewing,omitempty"`
	// Settling says that the partition has not taken in all that was there when it was
	// opened, for any crawl: messages in the streams, specs, and what these change.
	Settling bool `json:"settling,omitempty"`
	// Unusable is why the newest spec of the crawl cannot be used, "" if it can be; Still
	// says that the crawl waits for one, since none before it can be used either.
	Unusable string `json:"unusable_spec,omitempty"`
	Still    bool   `json:"still,omitempty"`
}

// HostStatus is what the frontier knows of a host.
type HostStatus struct {
	Host     string `json:"host"`
	Queued   int    `json:"queued"`
	InFlight int    `json:"in_flight"`
	// Why says what the host waits for, "" for nothing: delay, backoff,
	// retry_after, breaker_open, hours, parked (its crawl is paused or has spent
	// its budget), given_up.
	Why      string `json:"why,omitempty"`
	NextMS   int64  `json:"next_ms"`  // no request before, Unix ms
	DelayMS  int64  `json:"delay_ms"` // between a response and the next request
	IP       string `json:"ip,omitempty"`
	Requests int64  `json:"requests"`
	Pages    int64  `json:"pages"`
	Errors   int64  `json:"errors"`
	Bytes    int64  `json:"bytes"`
	MeanMS   int64  `json:"mean_ms"` // of a request
	// Failing is how often the host has failed in a row, SlowedMS the delay that
	// it earned by refusing, CrawlDelayMS what its robots.txt asks for.
	Failing      int   `json:"failing,omitempty"`
	SlowedMS     int64 `json:"slowed_ms,omitempty"`
	CrawlDelayMS int64 `json:"crawl_delay_ms,omitempty"`
	// Crawls are those with work for it.
	Crawls []HostWork `json:"crawls,omitempty"`
	// Last are the answers since this frontier has had the host in memory, the
	// oldest first; only where one host is asked about.
	Last []Attempt `json:"last,omitempty"`
}

// HostWork is what one crawl wants of a host.
type HostWork struct {
	Crawl    string `json:"crawl"`
	Queued   int    `json:"queued"`
	InFlight int    `json:"in_flight"`
	Parked   bool   `json:"parked,omitempty"` // paused, cancelled, or over its budget
}

// Explanation is what became of a URL.
type Explanation struct {
	Known bool `json:"known"`
	// Behind says that the partition has a new owner, which still reads what the one
	// before has applied: in a moment more is known.
	Behind   bool           `json:"behind,omitempty"`
	URL      string         `json:"url"`
	Visit    messages.Visit `json:"visit,omitzero"`
	State    string         `json:"state,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	Warning  string         `json:"warning,omitempty"`  // what of its page could not be read
	LeftOut  string         `json:"left_out,omitempty"` // why no record was made of its page
	Class    messages.Class `json:"class,omitempty"`
	Status   int            `json:"status,omitempty"`
	Priority int            `json:"priority"`
	Depth    int            `json:"depth"`
	Referrer string         `json:"referrer,omitempty"`
	Seed     bool           `json:"seed,omitempty"`
	// Metadata is what its records have of a seed, Inherit whether what is found on it
	// has that too.
	Metadata messages.Metadata `json:"metadata,omitempty"`
	Inherit  bool              `json:"inherit,omitempty"`

	Sent      int   `json:"sent"`
	Failures  int   `json:"failures"`
	ChangedMS int64 `json:"changed_ms,omitempty"`
	// NextMS is when it is tried or visited again, Unix ms; 0 if it is not, or
	// waits for its host.
	NextMS  int64     `json:"next_ms,omitempty"`
	History []Attempt `json:"history,omitempty"`
	// Host is that of the URL: why it waits.
	Host *HostStatus `json:"host,omitempty"`
	// Redirects is how many in a row led here; the last of them is the Referrer.
	Redirects int `json:"redirects,omitempty"`
	// FetchSeq is where in FETCH the request under way is, 0 if there is none.
	FetchSeq uint64 `json:"fetch_seq,omitempty"`
	// Now is what the spec says of the URL now.
	Now Verdict `json:"now"`
}

// Verdict is what a spec says of a URL.
type Verdict struct {
	Rev uint64 `json:"rev"` // of the spec
	// Reason is why the URL would be excluded, "" if it would not. What is only
	// known after a request, as what robots.txt says, is not in it unless it was found.
	Reason string `json:"reason,omitempty"`
	// Stands says that the URL is excluded by what was found, by a request or among other
	// URLs, whatever else the spec says.
	Stands bool `json:"stands,omitempty"`
	// Rule is the pattern that decides, if one does.
	Rule string `json:"rule,omitempty"`
	// Unknown says that the crawl has never been fed: nothing is known of its scope.
	Unknown bool `json:"unknown_crawl,omitempty"`
}

// Attempt is how one request ended, of the last ones.
type Attempt struct {
	AtMS   int64          `json:"at_ms"` // Unix ms
	Class  messages.Class `json:"class"`
	Status int            `json:"status,omitempty"`
	TookMS int64          `json:"took_ms"`
}

type failure struct {
	Error string `json:"error"`
}

// handleQuery replies to a question.
func (p *partitionLoop) handleQuery(q queuedQuery) {
	var about Query
	var reply any
	err := jsontext.Unmarshal(q.Data(), &about)
	if err == nil {
		switch q.op {
		case opStatus:
			reply, err = p.statusFor(about)
		case opHosts:
			reply, err = p.slowest(about.Top)
		case opHost:
			reply, err = p.hostDetail(about.Host)
		case opSurvey:
			reply, err = p.survey(about)
		case opFailed:
			reply, err = p.failed(about)
		case opExplain:
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

// statusFor answers opStatus.
func (p *partitionLoop) statusFor(about Query) (PartitionStatus, error) {
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

func (p *partitionLoop) status(crawl string) (PartitionStatus, error) {
	st := PartitionStatus{
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
			st.Counters = Counters{}
		}
	}
	return st, nil
}

// nextHost returns the first host of the due index, nil if one is being served
// or none has work.
func (p *partitionLoop) nextHost() (next *HostStatus) {
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
func (p *partitionLoop) slowest(top int) ([]HostStatus, error) {
	var all []HostStatus
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
			all = keepSlowest(all, top)
		}
		return scanned < maxHostsScanned, nil
	})
	return keepSlowest(all, top), err
}

func keepSlowest(hs []HostStatus, top int) []HostStatus {
	slices.SortFunc(hs, func(a, b HostStatus) int { return int(b.MeanMS - a.MeanMS) })
	return hs[:min(len(hs), max(top, 0))]
}

func (p *partitionLoop) hostStatus(name string) (HostStatus, error) {
	h, err := p.host(name)
	if err != nil {
		return HostStatus{}, err
	}
	return p.describe(h)
}

func (p *partitionLoop) describe(h *host) (HostStatus, error) {
	if live := p.hosts[h.name]; live != nil {
		h = live
	}
	st := HostStatus{
		Host: h.name, Queued: h.queued(), InFlight: h.inFlight, IP: h.ip,
		Requests: h.stats.Requests, Pages: h.stats.Pages, Errors: h.stats.Errors, Bytes: h.stats.Bytes,
	}
	if st.Requests > 0 {
		st.MeanMS = h.stats.Millis / st.Requests
	}
	for _, w := range h.work {
		if w.queued+w.inFlight > 0 && len(st.Crawls) < maxHostWork {
			st.Crawls = append(st.Crawls, HostWork{w.crawl, w.queued, w.inFlight, w.parked})
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
func (p *partitionLoop) hostDetail(name string) (HostStatus, error) {
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

func (p *partitionLoop) describeWait(st *HostStatus, h *host, rules *politeness.Rules, now int64) {
	st.DelayMS = h.polite.Delay(rules).Milliseconds()
	st.Failing, st.SlowedMS, st.CrawlDelayMS = h.polite.Failures(), h.polite.Slowed().Milliseconds(), h.polite.CrawlDelay().Milliseconds()
	st.NextMS = p.time.wallMS(max(p.time.earliest(&h.polite, rules, now), h.notBefore))
	st.Why = string(p.time.phase(&h.polite, rules, now))
	if h.polite.Abandoned(rules) {
		st.Why = "given_up"
	}
}

// describeLine adds what the host's domain makes it wait for.
func (p *partitionLoop) describeLine(st *HostStatus, h *host, now int64) error {
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

func (p *partitionLoop) explain(crawl, url string) (Explanation, error) {
	rules, err := p.specs.rules(crawl, 0) // which wakes no crawl that rests
	if err != nil {
		return Explanation{URL: url}, err
	}
	url = rules.normalize.Normalize(url)
	id := urlID{crawl, messages.HashURL(url)}
	r, err := p.record(id)
	if err != nil {
		return Explanation{URL: url}, err
	}
	now, err := p.ruleDecision(crawl, r, url, rules)
	if err != nil || r == nil {
		return Explanation{URL: url, Behind: p.replaying, Now: now}, err
	}
	e := Explanation{
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
		e.History = append(e.History, Attempt{AtMS: a.At, Class: a.Class, Status: a.Status, TookMS: a.Took})
	}
	if req := p.inFlight[id]; req != nil {
		e.FetchSeq = req.seq
	}
	h, err := p.hostStatus(weburl.Host(r.URL))
	e.Host = &h
	return e, err
}

// ruleDecision judges a URL by the spec as it is now; r is nil for one that is not known.
func (p *partitionLoop) ruleDecision(crawl string, r *urlRecord, url string, rules *rules) (Verdict, error) {
	state, err := p.stateOf(crawl)
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{Rev: rules.Rev, Unknown: state.Known() == 0}
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
	if v.Reason == ReasonExclude {
		i := slices.IndexFunc(rules.exclude, func(re *regexp.Regexp) bool { return re.MatchString(url) })
		v.Rule = rules.Exclude[i]
	}
	return v, nil
}
