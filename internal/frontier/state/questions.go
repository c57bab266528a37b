package state

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Questions answers the queries of package frontierapi between turns.
type Questions struct {
	*core
	requests *Requests
}

// maxAwakeBytes limits the names in an answer.
const maxAwakeBytes = 512 << 10

// Status answers OpStatus.
func (q *Questions) Status(about frontierapi.Query) (frontierapi.PartitionStatus, error) {
	st, err := q.status(about.Crawl)
	if err == nil && about.Due {
		st.Due, err = q.schedule.hasDueHost(about.Crawl, q.time.now())
	}
	forgotten := st.Removing && st.Counters.Started == 0 // the stored state belongs to the deleted crawl
	if err == nil && about.Examples && !forgotten {
		var state crawlState
		state, err = q.crawls.stateOf(about.Crawl)
		st.Examples = &state.Examples
	}
	if err == nil && about.Runs > 0 && !forgotten {
		st.Runs, err = q.runs.newest(about.Crawl, about.Runs)
	}
	if err == nil && about.Drop != "" && !forgotten {
		st.Dropped, err = q.wouldDrop(about.Crawl, about.Drop)
	}
	if about.Awake {
		st.Awake = q.awake()
	}
	return st, err
}

func (q *Questions) status(crawl string) (frontierapi.PartitionStatus, error) {
	st := frontierapi.PartitionStatus{
		Partition: q.partition, Owner: q.store.ID, Epoch: q.epoch, Positions: q.positions, Next: q.nextHost(crawl), Settling: q.replaying || q.crawls.settling(), Replaying: q.replaying,
	}
	if last := q.requests.recentFailures.newest(crawl, 1); len(last) > 0 {
		st.LastFailure = &last[0]
	}
	state, err := q.crawls.stateOf(crawl)
	if err != nil {
		return st, err
	}
	st.Counters, st.Again, st.VisitingAll = state.Counters, state.Again, state.Reseed != nil && state.Reseed.All
	if !state.Seeding.Due {
		st.Seeds = state.Seeding.List
	}
	if c := q.crawls.active[crawl]; c != nil {
		st.Late = c.rules != nil && c.quota.late(c.rules, q.time.clock.Now())
		st.Reviewing = c.working()
		if c.rules != nil {
			st.Unusable, st.Stalled = c.rules.Unusable, c.rules.Stalled
		}
	} else {
		st.Reviewing = q.crawls.stale[crawl]
	}
	st.Reviewing = st.Reviewing || q.crawls.hasNews() || q.suspectAll || q.suspects[crawl] // the outcome is not known yet
	if d := q.crawls.specs.Deletion(crawl); d != nil {
		old := state.known() && state.Since < d.Rev
		if old {
			st.Counters = frontierapi.Counters{}
		}
		st.Deletion, st.Removing = d.Rev, q.replaying || old || q.crawls.removals[crawl] != nil
	}
	return st, nil
}

// awake returns the crawls with work left, as many as fit into an answer.
func (q *Questions) awake() *frontierapi.AwakeCrawls {
	names := slices.Collect(maps.Keys(q.crawls.removals))
	for name, c := range q.crawls.active {
		if c.known() && (!c.ended() || c.working()) && q.crawls.removals[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	all := &frontierapi.AwakeCrawls{Names: names}
	size := 0
	for i, name := range names {
		if size += len(name) + len(`"",`); size > maxAwakeBytes {
			all.Names, all.Partial = names[:i], true
			break
		}
	}
	return all
}

// Explain answers OpExplain: what happened to a URL, and how the current rules would decide.
func (q *Questions) Explain(crawl, url string) (frontierapi.Explanation, error) {
	rules, err := q.crawls.specs.Rules(crawl, 0) // does not activate a dormant crawl
	if err != nil {
		return frontierapi.Explanation{URL: url}, err
	}
	url = rules.normalize.Normalize(url)
	id := urlID{crawl, messages.HashURL(url)}
	r, err := q.urls.record(id)
	if err != nil {
		return frontierapi.Explanation{URL: url}, err
	}
	now, err := q.ruleDecision(crawl, r, url, rules)
	if err != nil || r == nil {
		return frontierapi.Explanation{URL: url, Behind: q.replaying, Now: now}, err
	}
	e := frontierapi.Explanation{
		Behind: q.replaying, Now: now, Redirects: r.Redirects,
		Known: true, URL: r.URL, Visit: r.visit(id.hash), State: r.State.String(), Reason: r.Reason,
		Class: r.Class, Status: r.Status, Priority: int(r.Priority), Depth: r.Depth, Referrer: r.Referrer, Seed: r.Seed,
		Sent: r.Sent, Failures: r.Failures, ChangedMS: r.Changed,
	}
	if e.Metadata, e.Inherit, err = q.urls.metadataOf(r, id); err != nil {
		return e, err
	}
	if r.Due != 0 && r.State != Parsing {
		e.NextMS = q.time.wallMS(r.Due)
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
	if req := q.urls.inFlight[id]; req != nil {
		e.FetchSeq = req.FetchSeq
	}
	h, err := q.hostStatus(weburl.Host(r.URL))
	e.Host = &h
	return e, err
}

// ruleDecision evaluates a URL by the current spec; r is nil for an unknown URL.
func (q *Questions) ruleDecision(crawl string, r *urlRecord, url string, rules *Rules) (frontierapi.Verdict, error) {
	state, err := q.crawls.stateOf(crawl)
	if err != nil {
		return frontierapi.Verdict{}, err
	}
	v := frontierapi.Verdict{Rev: rules.Rev, Unknown: state.Known() == 0}
	if r == nil {
		r = &urlRecord{URL: url}
	}
	opened := true
	if !v.Unknown {
		if opened, err = q.scope.inScope(crawl, r, rules); err != nil {
			return v, err
		}
	}
	if v.Reason = rules.exclusionReason(r, opened, q.time.clock.Now()); v.Reason == "" && r.State == Excluded && rules.stands(r) {
		v.Reason, v.Stands = r.Reason, true
	}
	if v.Reason == frontierapi.ReasonExclude {
		i := slices.IndexFunc(rules.exclude, func(re *regexp.Regexp) bool { return re.MatchString(url) })
		v.Rule = rules.Exclude[i]
	}
	return v, nil
}
