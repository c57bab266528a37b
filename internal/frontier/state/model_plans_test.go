package state

import (
	"strings"
	"time"

	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

// plans holds when URLs and crawls are to be visited again.
type plans struct {
	ended     map[urlID]State      // URLs that had ended at the last commit
	runs      map[string][3]int64  // the last run of each crawl, the last over all URLs, and which crawl of the name it is
	scheduled map[string]time.Time // since when each crawl has its schedule
}

func newPlans() plans {
	return plans{make(map[urlID]State), make(map[string][3]int64), make(map[string]time.Time)}
}

// schedulePeriods maps the schedules that are drawn to their longest waits.
var schedulePeriods = map[string]time.Duration{"": 0, "@every 1h": time.Hour, "@every 6h": 6 * time.Hour, "30 */2 * * *": 2 * time.Hour}

// changed records a changed spec.
func (p *plans) changed(name string, was, is *crawlspec.Spec, now time.Time) {
	if was == nil || was.Schedule != is.Schedule {
		p.scheduled[name] = now
	}
}

// reopened drops what may differ in another store, or after a deletion.
func (p *plans) reopened() {
	clear(p.ended)
	clear(p.runs)
}

// priority returns the priority that a URL must have in its queue.
func (m *model) priority(id urlID) byte {
	for _, rule := range m.specs[id.crawl].Priorities {
		if strings.Contains(m.known[id].url, strings.Trim(rule.Match, "*")) {
			return byte(rule.Priority)
		}
	}
	return m.known[id].priority
}

// checkSchedules: no crawl waits longer for its next run than its schedule allows.
func (m *model) checkSchedules() {
	for name, c := range m.part.crawls.active {
		spec := m.specs[name]
		if m.doomed(name) || m.part.crawls.specsGen != m.gen || c.Started == 0 || c.nextRun == 0 {
			continue
		}
		wait := time.Duration(c.nextRun - m.part.time.wall(m.at()))
		if spec.Schedule == "" || spec.State == crawlspec.Cancelled || wait > schedulePeriods[spec.Schedule] {
			m.Fatalf("crawl %s waits %v for its next run, and is %s with schedule %q", name, wait, spec.State, spec.Schedule)
		}
	}
}

// checkPlans: planned visits match the spec, once its review is complete.
func (m *model) checkPlans(st *stored) {
	if m.restored {
		return
	}
	m.checkStarts()
	ended := make(map[urlID]State)
	for id, r := range st.records {
		if was := m.plans.ended[id]; was != 0 && r.State == Excluded && r.Reason == frontierapi.ReasonCancelled {
			m.Fatalf("%s was %v, and is excluded because it was cancelled", m.describe(id), was)
		}
		if r.State == Done || r.State == Failed {
			ended[id] = r.State
			m.checkPlan(id, r)
		}
	}
	m.plans.ended = ended
}

// checkPlan checks the next visit of an ended URL against the rules for it.
func (m *model) checkPlan(id urlID, r *urlRecord) {
	c := m.part.crawls.active[id.crawl]
	if m.part.crawls.specsGen != m.gen || m.doomed(id.crawl) || c != nil && c.Review != nil || m.part.crawls.stale[id.crawl] {
		return
	}
	spec := m.specs[id.crawl]
	_, state := spec.HostPoliteness(weburl.Hostname(r.URL))
	var rule *crawlspec.RecrawlRule
	for i := range spec.Recrawl {
		if rule == nil && strings.Contains(r.URL, strings.Trim(spec.Recrawl[i].Match, "*")) {
			rule = &spec.Recrawl[i]
		}
	}
	if r.Due == 0 {
		if rule != nil && state != crawlspec.Cancelled && r.State == Done {
			m.Fatalf("%s is done, and its next visit is not planned, by %+v", m.describe(id), *rule)
		}
		return
	}
	if rule == nil || state == crawlspec.Cancelled {
		m.Fatalf("%s is %v, and its next visit planned, by %+v; it is %s", m.describe(id), r.State, rule, state)
	}
	least, most := time.Duration(max(rule.Every, rule.Min)), time.Duration(max(rule.Every, rule.Max))
	wait, every := time.Duration(r.Due-m.at()), time.Duration(r.Interval)
	if every < least || every > most || wait > most+most/16 {
		m.Fatalf("%s waits %v for its next visit, with an interval of %v, by %+v", m.describe(id), wait, every, *rule)
	}
}

// checkStarts: no run starts for a time before the crawl had its schedule, as far as the clocks
// agree on that.
func (m *model) checkStarts() {
	for name, c := range m.part.crawls.active {
		if !c.known() { // its first run has not begun
			continue
		}
		was, known := m.plans.runs[name]
		is := [3]int64{c.Run, c.Again, int64(c.Since)}
		m.plans.runs[name] = is
		if !known || is[0] == was[0] || is[1] != was[1] || is[2] != was[2] || m.wrong || m.doomed(name) {
			continue
		}
		since := m.plans.scheduled[name]
		if next, err := m.specs[name].NextRun(since); err != nil || next.After(m.now) {
			m.Fatalf("crawl %s starts run %d at %v, and has its schedule since %v", name, c.Run, m.now, since)
		}
	}
}
