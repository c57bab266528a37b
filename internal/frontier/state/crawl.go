package state

import (
	"seine/internal/frontier/table"
	"seine/internal/schedule/traps"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// crawl is what a partition knows of one crawl.
type crawl struct {
	table.Row
	crawlState
	seen    *seen
	salt    uint64                    // salt of the current run in discovery.recent
	salted  int64                     // the run that salt belongs to
	marks   map[messages.URLHash]bool // order marks set in this turn: see paramOrderSeen
	shapes  *traps.PatternCounter
	roots   map[root]bool   // cache: whether seeds opened a host or domain
	barred  map[string]bool // cache: hosts already noted as barred
	quota   quota
	audited int64 // when the last audit began or ended
	unpark  bool  // parked hosts are to be put back into the schedule
	dirty   bool
	// unparsed counts the visits found by the last Partition.CountParsing that are still being
	// parsed. Pages whose parsing began before lostBefore, in the partition's time, are lost.
	unparsed, lostBefore int64
	runs                 map[int64]*frontierapi.Run // runs whose figures change in this turn: see figuresOf
	savedRun             *frontierapi.Run           // cache: the run saved last, as in the store

	rules    *Rules
	rulesFor uint64 // crawls.specsGen at the time the rules were read
	wasStale bool   // loaded only because it was stale: see recheckStale
	// idleFrom is the start of the current idle period. changedAt is the time of the last change
	// before it.
	idleFrom, changedAt int64
	seedsSent           uint64 // the spec's seed list that the owner of the partition has published
	nextRun             int64  // next scheduled run, Unix ns; 0 if none
}

// crawlState is the stored part of a crawl.
type crawlState struct {
	frontierapi.Counters
	Examples frontierapi.Examples `json:"examples,omitzero"`
	Print    uint64               `json:"print,omitempty"` // fingerprint of the rules that last evaluated the URLs
	// LatestRun is the latest run that found URLs, in any partition.
	LatestRun int64 `json:"latest_run,omitempty"`
	// Rev is the revision of the spec with these rules. Build identifies the build that evaluated
	// the URLs.
	Rev   uint64 `json:"rev,omitempty"`
	Build uint64 `json:"build,omitempty"`
	// Scheduled reports whether the spec's schedule starts runs. Such crawls do not end.
	Scheduled bool `json:"scheduled,omitempty"`
	// Schedule is the schedule of the runs with its time zone. ScheduleSince is when the crawl got
	// it, Unix ms: starts before that time are not made up for.
	Schedule      string `json:"schedule,omitempty"`
	ScheduleSince int64  `json:"schedule_since,omitempty"`
	// Links identifies the rules for links, which are unchanged since revision LinksRev.
	Links    uint64 `json:"links,omitempty"`
	LinksRev uint64 `json:"links_rev,omitempty"`
	// Review is the progress of evaluating all URLs by changed rules.
	Review *sweep `json:"review,omitempty"`
	// Reseed is the progress of adding all seeds, or all URLs, to a new run. Again is the last run
	// that visits all URLs, as named by the spec.
	Reseed *sweep `json:"reseed,omitempty"`
	Again  int64  `json:"again,omitempty"`
	// Opening says that excluded URLs of hosts opened by seeds are to be admitted. Unchanged says
	// that links of unchanged pages are to be found again.
	Opening   bool `json:"opening,omitempty"`
	Unchanged bool `json:"unchanged,omitempty"`
	// Since is the revision of the last deletion of the crawl's name before this crawl.
	Since uint64 `json:"since,omitempty"`
	// Seeding is the progress of receiving the spec's seeds.
	Seeding seeding `json:"seeding,omitzero"`
}

// sweep is a walk through many keys that extends over many turns and restarts.
type sweep struct {
	After []byte `json:"after,omitempty"` // the last hash done
	// Count is what an audit has counted so far: see base.audit.
	Count *frontierapi.Counters `json:"count,omitempty"`
	// All says that a new run starts with all URLs, not only with the seeds.
	All bool `json:"all,omitempty"`
	// Recorded says that a new run starts with the seeds and the pages that have records.
	Recorded bool `json:"recorded,omitempty"`
	// Seeds is the number of the spec's seeds that a new run has received.
	Seeds int `json:"seeds,omitempty"`
}

// A sweep of the same kind that starts from the first URL.
func (w *sweep) anew() *sweep {
	if w.audits() {
		return &sweep{Count: &frontierapi.Counters{}}
	}
	return &sweep{}
}

// newCrawl returns a crawl of which nothing is known.
func newCrawl(name string) *crawl {
	return &crawl{
		seen: newSeen(), shapes: traps.NewPatternCounter(), roots: make(map[root]bool), barred: make(map[string]bool), marks: make(map[messages.URLHash]bool), runs: make(map[int64]*frontierapi.Run),
		salt: saltOf(name, 0, 0),
	}
}

// begin continues a crawl from its stored state.
func (c *crawl) begin(name string, state crawlState) {
	c.crawlState = state
	c.salt, c.salted = saltOf(name, c.Since, 0), 0
	if c.Started > 0 {
		c.unpark = true // release parked hosts, which are parked again if needed
	}
}

// known reports whether the store has any state of the crawl.
func (c *crawlState) known() bool { return c.Started != 0 }

// working reports whether a step-by-step operation on many URLs or hosts of the crawl is in
// progress.
func (c *crawl) working() bool {
	return !c.stalled() && (c.unpark || c.Opening || c.Unchanged || c.Reseed != nil || c.Review != nil)
}

// stalled reports whether the crawl has no usable spec.
func (c *crawl) stalled() bool { return c.rules != nil && c.rules.Stalled }

// follow records the rules that evaluate the crawl's URLs from now on, before any URL is evaluated.
// If the rules have changed, all URLs are evaluated again, step by step, and parked hosts are
// released: see reevaluate. If this were recorded later, a change back would miss the URLs
// evaluated meanwhile.
func (c *crawl) follow(r *Rules) {
	switch {
	case r.Stalled: // the next spec evaluates again whatever is decided meanwhile
		c.dirty, c.Print = c.dirty || c.Print != r.fingerprint, r.fingerprint
		return
	case c.Started == 0: // no URLs to evaluate
		return
	}
	if c.Rev != r.Rev || c.Build != buildPrint() {
		c.judgeBy(r)
	}
	if c.Print != r.fingerprint {
		c.Print, c.dirty, c.Review, c.unpark, c.quota = r.fingerprint, true, c.Review.anew(), true, quota{asked: c.quota.asked}
	}
}

// judgeBy records the spec and the build that evaluate a crawl's URLs.
func (c *crawl) judgeBy(r *Rules) {
	c.Rev, c.Build, c.Scheduled, c.dirty = r.Rev, buildPrint(), r.startsAgain(), true
	c.scheduledBy(r)
	if c.Started == 0 { // the first visits repeat nothing
		c.Again = r.Again
	}
	if c.Links != r.links {
		if c.Links != 0 {
			c.LinksRev = r.Rev
		}
		c.Links = r.links
	}
}

// scheduledBy records since when a crawl has its current schedule.
func (c *crawl) scheduledBy(r *Rules) {
	text := ""
	if r.Schedule != "" {
		text = r.Schedule + " " + r.TimeZone
	}
	if text != "" && text != c.Schedule && c.Started != 0 { // otherwise the crawl has it from the beginning
		c.ScheduleSince = r.since()
	}
	c.Schedule = text
}

// tally changes the counters of a crawl for a URL, and those of an audit that has already counted
// it.
func (c *crawl) tally(hash messages.URLHash, by func(*frontierapi.Counters)) {
	by(&c.Counters)
	if c.Review.has(hash) {
		by(c.Review.Count)
	}
}
